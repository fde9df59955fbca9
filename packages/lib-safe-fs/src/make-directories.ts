import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errnoOf } from "./unsafe-path-error.ts";

/**
 * Makes a directory and those above it that are missing, each with the mode (less the umask). An existing one stays as it is; links to directories
 * count. Throws the system's error when something else has such a name or nothing can be made there.
 *
 * Node's own recursive mkdir never returns where the kernel answers ENOENT inside a directory that exists, as /proc does.
 */
export function makeDirectories(path: string, options: { readonly mode: number }): void {
  try {
    mkdirSync(path, options);
  } catch (error) {
    const parent = dirname(path);
    if (errnoOf(error) === "ENOENT" && parent !== path && statSync(parent, { throwIfNoEntry: false }) === undefined) {
      makeDirectories(parent, options);
      makeDirectory(path, options);
      return;
    }
    assertDirectory(path, error);
  }
}

function makeDirectory(path: string, options: { readonly mode: number }): void {
  try {
    mkdirSync(path, options);
  } catch (error) {
    assertDirectory(path, error);
  }
}

/** Throws the error unless a directory is there all the same: it was, or another process was faster. */
function assertDirectory(path: string, error: unknown): void {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
}
