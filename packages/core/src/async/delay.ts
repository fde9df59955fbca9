import { NodeletError } from "../errors/nodelet-error.ts";
import type { Clock } from "../ports/clock.ts";

/** Resolves after `delayMs`, or at once when the signal fires; answers whether the whole time passed. Never rejects. */
export function delay(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<boolean> {
  if (signal?.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const onAbort = (): void => {
      timer.cancel();
      resolve(false);
    };
    const timer = clock.setTimer(delayMs, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve(true);
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** What the promise comes to, or `cancelled` at the instant the signal fires, be it that the promise never settles. */
export function orCancelled<T>(
  promise: Promise<T>,
  options: { readonly what: string; readonly signal: AbortSignal },
): Promise<T> {
  const { what, signal } = options;
  return new Promise((resolve, reject) => {
    const onAbort = (): void =>
      reject(new NodeletError("cancelled", `${what} was cancelled`, { cause: signal.reason }));
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/**
 * Runs `work` with a signal that fires when `parent` does or when `timeoutMs` passed, and rejects at that instant even if `work` ignores the
 * signal: a call that hangs holds nobody. Rejects with `deadline` ("<what> did not answer within 120s") or `cancelled`; with a parent that has fired
 * already nothing is begun.
 */
export async function withDeadline<T>(
  options: { readonly clock: Clock; readonly timeoutMs: number; readonly what: string; readonly parent?: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { parent } = options;
  if (parent?.aborted) throw new NodeletError("cancelled", `${options.what} was cancelled`, { cause: parent.reason });
  const controller = new AbortController();
  let finish: (() => void) | undefined;
  const gaveUp = new Promise<never>((_, reject) => {
    const fail = (error: NodeletError): void => {
      reject(error);
      controller.abort(error);
    };
    const timer = options.clock.setTimer(options.timeoutMs, () =>
      fail(new NodeletError("deadline", `${options.what} did not answer within ${options.timeoutMs / 1000}s`)),
    );
    const onAbort = (): void =>
      fail(new NodeletError("cancelled", `${options.what} was cancelled`, { cause: parent?.reason }));
    finish = () => {
      timer.cancel();
      parent?.removeEventListener("abort", onAbort);
    };
    parent?.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([work(controller.signal), gaveUp]);
  } finally {
    finish?.();
    gaveUp.catch(() => undefined);
  }
}
