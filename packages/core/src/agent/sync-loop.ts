import { delay } from "../async/delay.ts";
import { Wake } from "../async/wake.ts";
import type { PodChange } from "../pods/index.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import { PendingChanges } from "./pending-changes.ts";

/** Upstream's pause while the runtime is not ready: 100 ms doubling to 5 s. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
/** The loop counts as stuck when it did not come round for that long (or twice the sync frequency, if that is more). */
const STUCK_AFTER_MS = 300_000;
/** With nothing to do the loop still comes round, so that its health can be told. */
const IDLE_ROUND_MS = 10_000;

/** What the sync loop is driven by and whom it calls. */
export interface SyncLoopOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly syncFrequencyMs: number;
  /** Why nothing can be handled now; empty when it can. */
  readonly runtimeErrors: () => readonly string[];
  /** Carries out one change of the desired pods. Must not block. */
  readonly handleChange: (change: PodChange) => void;
  /** Pods whose observed state changed. Must not block. */
  readonly handleObserved: (podUids: readonly string[]) => void;
  /** Told after each round: all news that had come were handed on. */
  readonly onRound: () => void;
}

/**
 * The one place where news become work: changes of the desired pods in their order, and pods whose look differed. While the runtime cannot be
 * used, news wait (one entry a pod, so that no flood fills the memory) and the loop pauses 100 ms doubling to 5 s.
 */
export class SyncLoop {
  readonly #options: SyncLoopOptions;
  readonly #wake: Wake;
  readonly #changes = new PendingChanges();
  readonly #observed = new Set<string>();
  #lastRoundMs: number;

  constructor(options: SyncLoopOptions) {
    this.#options = options;
    this.#wake = new Wake(options.clock);
    this.#lastRoundMs = options.clock.monotonicMs();
  }

  /** Takes changes of the desired pods. */
  pushChanges(changes: readonly PodChange[]): void {
    for (const change of changes) this.#changes.push(change);
    this.#wake.wake();
  }

  pushObserved(podUid: string): void {
    this.#observed.add(podUid);
    this.#wake.wake();
  }

  /** Comes round soon. */
  wake(): void {
    this.#wake.wake();
  }

  /** For /healthz/syncloop: false when the loop has not come round for max(5 min, 2 x syncFrequency). */
  healthy(): boolean {
    const limitMs = Math.max(STUCK_AFTER_MS, 2 * this.#options.syncFrequencyMs);
    return this.#options.clock.monotonicMs() - this.#lastRoundMs <= limitMs;
  }

  /** True when no change of the desired pods waits. */
  get idle(): boolean {
    return this.#changes.size === 0;
  }

  /** Runs until the signal fires. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger, runtimeErrors } = this.#options;
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      const errors = runtimeErrors();
      if (errors.length > 0) {
        logger.debug(2, "Skipping pod synchronization", { errors });
        await delay(clock, pauseMs, signal);
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
        continue;
      }
      pauseMs = FIRST_PAUSE_MS;
      this.#round();
      this.#wake.wakeAfter(IDLE_ROUND_MS);
      await this.#wake.wait(signal);
    }
    this.#wake.clear();
  }

  #round(): void {
    this.#lastRoundMs = this.#options.clock.monotonicMs();
    for (const change of this.#changes.drain()) {
      try {
        this.#options.handleChange(change);
      } catch (error) {
        this.#options.logger.error("Handling a change of desired pods failed; other pods go on", {
          err: error,
          change: change.kind,
          source: change.source,
        });
      }
    }
    const observed = [...this.#observed];
    this.#observed.clear();
    if (observed.length > 0) this.#options.handleObserved(observed);
    this.#options.onRound();
  }
}
