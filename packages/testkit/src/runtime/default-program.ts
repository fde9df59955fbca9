import type { ProcessInfo, ProcessPlan } from "./program.ts";
import { shellPlan, sleepMs } from "./shell-script.ts";

/** Directories whose programs an image has when it does not list its own. */
const USUAL_DIRECTORIES = ["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/"];

/**
 * The program of every container that no other program claimed, so that ordinary manifests work in a simulation: `sleep N`,
 * `sleep infinity`, `echo TEXT`, `true`, `false`, `sh -c SCRIPT` for the scripts that `shellPlan` reads, StartError for a path that the image does not
 * have, and for everything else a server that runs until it is stopped and then exits with 143.
 *
 * `sleep` and shells handle no SIGTERM: as process 1 they live on until they are killed, as they do on Linux.
 */
export function defaultProgram(process: ProcessInfo): ProcessPlan {
  const path = process.argv[0] ?? "";
  if (!hasExecutable(process, path)) return { startError: execError(path) };
  const name = path.slice(path.lastIndexOf("/") + 1);
  const ignoring: ProcessPlan = process.isPid1 ? { onStop: "ignore" } : {};
  switch (name) {
    case "true":
      return { exit: { afterMs: 0, exitCode: 0 } };
    case "false":
      return { exit: { afterMs: 0, exitCode: 1 } };
    case "echo":
      return { exit: { afterMs: 0, exitCode: 0 }, output: [{ text: process.argv.slice(1).join(" ") }] };
    case "sleep": {
      const durationMs = sleepMs(process.argv[1]);
      if (durationMs === undefined) {
        const text = `sleep: invalid number '${process.argv[1] ?? ""}'`;
        return { exit: { afterMs: 0, exitCode: 1 }, output: [{ stream: "stderr", text }] };
      }
      return Number.isFinite(durationMs) ? { ...ignoring, exit: { afterMs: durationMs, exitCode: 0 } } : ignoring;
    }
    case "sh":
    case "ash":
    case "bash":
      return process.argv[1] === "-c"
        ? shellPlan({ script: process.argv[2] ?? "", isPid1: process.isPid1 })
        : { exit: { afterMs: 0, exitCode: 0 } };
    default:
      return {};
  }
}

function hasExecutable(process: ProcessInfo, path: string): boolean {
  const { executables, entrypoint, command } = process.image;
  if (executables?.includes(path) || path === entrypoint[0] || path === command[0]) return true;
  if (executables !== undefined) return false;
  return !path.includes("/") || USUAL_DIRECTORIES.some((directory) => path.startsWith(directory));
}

/** runc's words for a program that is not there. */
function execError(path: string): string {
  return path.includes("/")
    ? `exec: "${path}": stat ${path}: no such file or directory`
    : `exec: "${path}": executable file not found in $PATH`;
}
