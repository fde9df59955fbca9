import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";

/** Looked in after PATH: an agent started by an init system may have a short one. */
const USUAL_FOLDERS = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/** Where a helper program was found, or why it is missing and what to do. */
export type NativeProgram =
  | { readonly found: true; readonly path: string }
  | { readonly found: false; readonly reason: string };

/** What stands in for the system calls that Node.js lacks, as found on this machine. */
export interface NativeCapabilities {
  /** flock(2), by the program flock(1). Without it no lock can be held. */
  readonly flock: NativeProgram;
}

/** Looks for the helper programs. Cheap; safe to repeat. */
export async function nativeCapabilities(options: { readonly searchPath?: string } = {}): Promise<NativeCapabilities> {
  return { flock: await findProgram({ name: "flock", package: "util-linux", ...options }) };
}

/** Finds an executable in `searchPath` (PATH unless given) and the usual folders. Relative entries of PATH are not searched. */
async function findProgram(options: {
  readonly name: string;
  /** Where people get it from, for the message. */
  readonly package: string;
  readonly searchPath?: string;
}): Promise<NativeProgram> {
  const usual = options.searchPath === undefined ? USUAL_FOLDERS : [];
  const folders = [...(options.searchPath ?? process.env["PATH"] ?? "").split(delimiter), ...usual];
  for (const folder of new Set(folders)) {
    if (!isAbsolute(folder)) continue;
    const path = join(folder, options.name);
    try {
      await access(path, constants.X_OK);
      return { found: true, path };
    } catch {
      // Not here; the next folder may have it.
    }
  }
  return {
    found: false,
    reason: `the program "${options.name}" is not installed: it comes with the package ${options.package}`,
  };
}
