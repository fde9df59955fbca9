/**
 * What went wrong when a development node was made, in a form that a caller can branch on:
 * - `platform`: this machine cannot do it (not Linux, not root, not Debian, no such architecture);
 * - `tool`: a needed program is missing and could not be fetched;
 * - `start`: containerd did not become ready;
 * - `command`: a program that we ran failed or took too long;
 * - `inUse`: the directory belongs to a development node that is alive;
 * - `cleanup`: something could not be taken down; the message lists it.
 */
export type DevNodeErrorKind = "platform" | "tool" | "start" | "command" | "inUse" | "cleanup";

/** The one error class of this package. The message says what was expected and what to do. */
export class DevNodeError extends Error {
  readonly kind: DevNodeErrorKind;

  constructor(kind: DevNodeErrorKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "DevNodeError";
    this.kind = kind;
  }
}

/** The errno code of a system error ("ENOENT"), or undefined for anything else. */
export function errnoOf(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}

/** Runs `action` and treats the given errno codes as success: the thing was gone already, or is not ours to remove. */
export async function ignoringErrno<T>(codes: readonly string[], action: () => Promise<T>): Promise<T | undefined> {
  try {
    return await action();
  } catch (error) {
    const code = errnoOf(error);
    if (code !== undefined && codes.includes(code)) {
      return undefined;
    }
    throw error;
  }
}
