import { type ErrorKind, kindOfErrno, NodeletError, throwIfAborted } from "@nodelet/core";
import { errnoOf, type PathProblem, UnsafePathError } from "@nodelet/lib-safe-fs";

const KIND_OF_PROBLEM: Readonly<Record<PathProblem, ErrorKind>> = {
  badName: "invalid",
  outside: "invalid",
  link: "invalid",
  notDirectory: "invalid",
  notRegular: "invalid",
  tooLarge: "resourceExhausted",
  mountPoint: "conflict",
};

/** Does file system work and turns what it throws into a NodeletError whose message begins with `what` ("cannot write …"). */
export async function hostCall<T>(
  call: { readonly what: string; readonly signal?: AbortSignal | undefined },
  work: () => Promise<T>,
): Promise<T> {
  throwIfAborted(call.signal, call.what);
  try {
    return await work();
  } catch (error) {
    throw hostError(call.what, error);
  }
}

/** Translates a system error, a refused path or an abort. NodeletErrors pass unchanged. */
export function hostError(what: string, error: unknown): NodeletError {
  if (NodeletError.is(error)) return error;
  if (error instanceof UnsafePathError) {
    return new NodeletError(KIND_OF_PROBLEM[error.problem], `${what}: ${error.message}`, { cause: error });
  }
  const code = errnoOf(error);
  if (code !== undefined)
    return new NodeletError(kindOfErrno(code), `${what}: ${describe(error, code)}`, { cause: error });
  const { kind, message } = NodeletError.from(error);
  return new NodeletError(kind, `${what}: ${message}`, { cause: error });
}

/** `no such file or directory (ENOENT)`: without the system call and the descriptor path that Node.js adds. */
function describe(error: unknown, code: string): string {
  const message = error instanceof Error ? error.message : String(error);
  const text = /^[A-Z0-9_]+: ([^,]+)/.exec(message)?.[1];
  return text === undefined ? message : `${text} (${code})`;
}
