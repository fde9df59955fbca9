import { type Clock, NodeletError, type Timer } from "@nodelet/core";
import { afterMicrotasks } from "./macrotask.ts";
import { TimerQueue } from "./timer-queue.ts";

/** Where the wall clock of a VirtualClock stands at first: 2026-01-01T00:00:00Z. */
export const VIRTUAL_EPOCH_MS = 1_767_225_600_000;

/** More timers than this at one instant mean that two callbacks wake each other without end. */
const SAME_INSTANT_LIMIT = 100_000;

/** How a VirtualClock begins. */
export interface VirtualClockOptions {
  /** Wall clock at the start, milliseconds since the Unix epoch; VIRTUAL_EPOCH_MS when absent. */
  readonly startMs?: number;
}

/**
 * A Clock that stands still until a test moves it. Moving it fires the due timers one by one in order of their time (and, at one instant,
 * in the order in which they were set), and lets all promise chains come to rest before and after each: what a program does depends on its
 * timers alone, so the same run gives the same result each time, and an hour passes in milliseconds.
 *
 * Only one of `advance`, `runUntil`, `drive` may move it at a time, except that `drive` calls may overlap each other. A timer callback that
 * throws ends the move with that error.
 */
export class VirtualClock implements Clock {
  readonly #timers = new TimerQueue();
  #monotonicMs = 0;
  #wallOffsetMs: number;
  #moving = false;
  #driving = 0;
  #pump: Promise<void> | undefined;
  #wakePump: (() => void) | undefined;

  constructor(options: VirtualClockOptions = {}) {
    this.#wallOffsetMs = options.startMs ?? VIRTUAL_EPOCH_MS;
  }

  nowMs(): number {
    return this.#wallOffsetMs + this.#monotonicMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const queued = this.#timers.add({ dueMs: this.#monotonicMs + (delayMs > 0 ? delayMs : 0), callback });
    this.#wakePump?.();
    return { cancel: () => this.#timers.cancel(queued) };
  }

  /** Timers that are set and have not fired: a test that ends with 0 left none behind. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** Lets the wall clock jump, as NTP or an administrator does. Timers and the monotonic clock do not notice. */
  jumpWall(deltaMs: number): void {
    this.#wallOffsetMs += deltaMs;
  }

  /** Lets all promise chains come to rest without time passing. Timers that are due now do not fire. */
  async settle(): Promise<void> {
    await afterMicrotasks();
  }

  /** Moves time on by `durationMs`, firing what becomes due on the way; resolves when everything has come to rest. */
  async advance(durationMs: number): Promise<void> {
    const endMs = this.#monotonicMs + durationMs;
    await this.#move(endMs, () => false);
    this.#monotonicMs = Math.max(this.#monotonicMs, endMs);
  }

  /**
   * Moves time on until `predicate` holds, asked at first and after each timer; answers the milliseconds that passed. Throws `deadline`
   * when it does not hold within `limitMs` (time then stands at the limit), naming `what`.
   */
  async runUntil(
    predicate: () => boolean,
    options: { readonly limitMs: number; readonly what?: string },
  ): Promise<number> {
    const startMs = this.#monotonicMs;
    const endMs = startMs + options.limitMs;
    if (await this.#move(endMs, predicate)) return this.#monotonicMs - startMs;
    this.#monotonicMs = Math.max(this.#monotonicMs, endMs);
    throw new NodeletError("deadline", `${options.what ?? "the condition"} did not come within ${options.limitMs} ms`);
  }

  /**
   * Moves time on from timer to timer until `promise` settles, and answers as it does: for calls that take virtual time. Several may run
   * at once. A promise that never settles makes time pass for ever, or stand still when no timer is left: give it an AbortSignal.
   */
  async drive<T>(promise: Promise<T>): Promise<T> {
    this.#driving += 1;
    this.#pump ??= this.#runPump();
    const pump = this.#pump;
    try {
      // The pump only ever ends by an error of a timer callback while somebody drives: that error is the answer then.
      return await Promise.race([promise, pump.then(() => promise)]);
    } finally {
      this.#driving -= 1;
      if (this.#driving === 0) this.#wakePump?.();
    }
  }

  async #runPump(): Promise<void> {
    this.#begin();
    try {
      for (;;) {
        await afterMicrotasks();
        if (this.#driving === 0) return;
        const next = this.#timers.peek();
        if (next === undefined) {
          await new Promise<void>((resolve) => {
            this.#wakePump = resolve;
          });
          this.#wakePump = undefined;
        } else {
          this.#fire(next.dueMs);
        }
      }
    } finally {
      this.#pump = undefined;
      this.#moving = false;
    }
  }

  /** Fires timers until `endMs` or until `stop` answers true; tells whether it was `stop`. */
  async #move(endMs: number, stop: () => boolean): Promise<boolean> {
    // A drive that was answered leaves its pump one turn behind.
    while (this.#pump !== undefined && this.#driving === 0) await this.#pump;
    this.#begin();
    try {
      let instantMs = -1;
      let atInstant = 0;
      for (;;) {
        await afterMicrotasks();
        if (stop()) return true;
        const next = this.#timers.peek();
        if (next === undefined || next.dueMs > endMs) return false;
        atInstant = next.dueMs === instantMs ? atInstant + 1 : 0;
        instantMs = next.dueMs;
        if (atInstant > SAME_INSTANT_LIMIT) {
          throw new NodeletError(
            "internal",
            `more than ${SAME_INSTANT_LIMIT} timers fired at ${instantMs} ms: time cannot move on`,
          );
        }
        this.#fire(next.dueMs);
      }
    } finally {
      this.#moving = false;
    }
  }

  #begin(): void {
    if (this.#moving)
      throw new NodeletError("conflict", "the virtual clock is being moved already; await the first move");
    this.#moving = true;
  }

  #fire(dueMs: number): void {
    this.#monotonicMs = Math.max(this.#monotonicMs, dueMs);
    this.#timers.take()?.();
  }
}
