import type { Clock } from "../ports/clock.ts";
import { delay } from "./delay.ts";

/** True once the promise settled, false when the signal fired before. Never rejects. */
export function settledBefore(signal: AbortSignal, promise: Promise<unknown>): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const onAbort = (): void => resolve(false);
    signal.addEventListener("abort", onAbort, { once: true });
    const onSettled = (): void => {
      signal.removeEventListener("abort", onAbort);
      resolve(true);
    };
    promise.then(onSettled, onSettled);
  });
}

/** Settles as the promise does, or resolves when it has not settled that long after the signal fired: whoever does not heed it is left behind. */
export async function endedSoonAfter(
  signal: AbortSignal,
  options: { readonly promise: Promise<void>; readonly clock: Clock; readonly afterMs: number },
): Promise<void> {
  const { promise, clock, afterMs } = options;
  if (await settledBefore(signal, promise)) return promise;
  const ended = new AbortController();
  try {
    await Promise.race([promise, delay(clock, afterMs, ended.signal)]);
  } finally {
    ended.abort();
  }
}
