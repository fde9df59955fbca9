/**
 * What made a path unusable:
 *
 * - `badName`: not one plain file name (empty, `.`, `..`, with `/` or NUL, over 255 bytes).
 * - `link`: a symbolic link where none may be followed.
 * - `notDirectory`, `notRegular`: something else than what was expected (a pipe, a device, a socket, ...).
 * - `tooLarge`: more bytes or entries than the caller accepts.
 * - `mountPoint`: another file system is mounted there.
 * - `outside`: the path does not lie under its root.
 */
export type PathProblem = "badName" | "link" | "notDirectory" | "notRegular" | "tooLarge" | "mountPoint" | "outside";

/** A path that this library refuses. Plain failures of the system keep their errno error. */
export class UnsafePathError extends Error {
  readonly problem: PathProblem;
  readonly path: string;

  constructor(problem: PathProblem, path: string, message: string) {
    super(`${printablePath(path)}: ${message}`);
    this.name = "UnsafePathError";
    this.problem = problem;
    this.path = path;
  }
}

/** A path as it may stand in a message: control characters escaped, bounded. */
export function printablePath(path: string): string {
  const escaped = path.replace(/\p{Cc}/gu, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`);
  return escaped.length > 512 ? `${escaped.slice(0, 509)}...` : escaped;
}

/** The errno code of a system error (`ENOENT`), or undefined for anything else. */
export function errnoOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" ? code : undefined;
}
