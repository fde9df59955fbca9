import type { Clock, Timer } from "@nodelet/core";

/** The longest delay that Node.js takes; longer ones would fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The machine's clocks. */
export class SystemClock implements Clock {
  nowMs(): number {
    return Date.now();
  }

  monotonicMs(): number {
    return performance.now();
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const dueMs = this.monotonicMs() + delayMs;
    let handle: NodeJS.Timeout;
    const arm = () => {
      // Rounded up: Node.js cuts fractions off and would fire early.
      const leftMs = Math.max(0, Math.ceil(dueMs - this.monotonicMs()));
      handle = setTimeout(() => (this.monotonicMs() < dueMs ? arm() : callback()), Math.min(leftMs, MAX_DELAY_MS));
    };
    arm();
    return { cancel: () => clearTimeout(handle) };
  }
}
