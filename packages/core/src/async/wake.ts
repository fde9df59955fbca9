import type { Clock, Timer } from "../ports/clock.ts";

/**
 * A single slot that a loop sleeps on. `wake` before `wait` is remembered once, so nothing is missed and nothing piles up.
 * `wakeAt` sets the earliest of the asked times.
 */
export class Wake {
  readonly #clock: Clock;
  #pending = false;
  #resolve: (() => void) | undefined;
  #timer: Timer | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ends the present or the next `wait`. */
  wake(): void {
    this.#pending = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    this.#resolve?.();
    this.#resolve = undefined;
  }

  /**
   * Wakes after `delayMs`, rounded up to whole milliseconds, unless something wakes earlier; a later time than one already set changes nothing.
   * Rounding up keeps a waiter from coming a hair too early for ever.
   */
  wakeAfter(delay: number): void {
    const delayMs = Math.ceil(delay);
    const atMs = this.#clock.monotonicMs() + delayMs;
    if (atMs >= this.#timerAtMs) return;
    this.#timer?.cancel();
    this.#timerAtMs = atMs;
    this.#timer = this.#clock.setTimer(delayMs, () => this.wake());
  }

  /** Forgets a time that was set. */
  clear(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerAtMs = Number.POSITIVE_INFINITY;
  }

  /** Waits for a wake-up or the signal. One waiter at a time. */
  async wait(signal: AbortSignal): Promise<void> {
    if (!this.#pending && !signal.aborted) {
      const onAbort = (): void => {
        this.#resolve?.();
      };
      signal.addEventListener("abort", onAbort, { once: true });
      await new Promise<void>((resolve) => {
        this.#resolve = resolve;
      });
      this.#resolve = undefined;
      signal.removeEventListener("abort", onAbort);
    }
    this.#pending = false;
  }
}
