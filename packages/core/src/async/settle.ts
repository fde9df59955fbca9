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

/** Does work with a signal that tells it to stop waiting: when `earlier` fires, or after a time (Infinity = never). */
export async function leftAfter<T>(
  terms: { readonly clock: Clock; readonly earlier: AbortSignal; readonly afterMs: number },
  work: (leave: AbortSignal) => Promise<T>,
): Promise<T> {
  const { clock, earlier, afterMs } = terms;
  if (afterMs === Number.POSITIVE_INFINITY) return work(earlier);
  const late = new AbortController();
  const timer = clock.setTimer(afterMs, () => late.abort());
  try {
    return await work(AbortSignal.any([earlier, late.signal]));
  } finally {
    timer.cancel();
  }
}
