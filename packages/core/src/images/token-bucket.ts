import type { Clock } from "../ports/clock.ts";

/** A rate with bursts: full at first, refilled at `perSecond`, never beyond `burst`. A rate of 0 is no limit. */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #filledAtMs: number;

  constructor(options: { readonly clock: Clock; readonly perSecond: number; readonly burst: number }) {
    this.#clock = options.clock;
    this.#perSecond = options.perSecond;
    this.#burst = Math.max(1, options.burst);
    this.#tokens = this.#burst;
    this.#filledAtMs = options.clock.monotonicMs();
  }

  /** Takes one token if there is one now. */
  tryTake(): boolean {
    if (this.#perSecond <= 0) return true;
    const nowMs = this.#clock.monotonicMs();
    const refill = ((nowMs - this.#filledAtMs) * this.#perSecond) / 1000;
    this.#tokens = Math.min(this.#burst, this.#tokens + refill);
    this.#filledAtMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
