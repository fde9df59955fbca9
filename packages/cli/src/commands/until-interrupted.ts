import { setTimeout as sleep } from "node:timers/promises";

/** Does `work` at once and then every `periodMs` until SIGINT or SIGTERM. A fault of `work` ends it. */
export async function untilInterrupted(options: {
  readonly periodMs: number;
  readonly work: () => Promise<void>;
}): Promise<void> {
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  try {
    while (!stop.signal.aborted) {
      await options.work();
      await sleep(options.periodMs, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  }
}
