/** A timer that was set; `cancel` is idempotent and may be called after it fired. */
export interface Timer {
  cancel(): void;
}

/**
 * Time, the only way core learns of it or waits for it. The virtual clock of the testkit makes a run deterministic.
 *
 * Wall time may jump (NTP, suspend); intervals, deadlines and back-offs are measured on the monotonic clock.
 */
export interface Clock {
  /** Wall clock, milliseconds since the Unix epoch. */
  nowMs(): number;
  /** Monotonic clock, milliseconds from an arbitrary start; never goes back. */
  monotonicMs(): number;
  /** Calls `callback` once after at least `delayMs` (0 = as soon as possible, never synchronously). */
  setTimer(delayMs: number, callback: () => void): Timer;
}
