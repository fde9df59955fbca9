import type { Clock } from "@nodelet/core";
import { expect } from "vitest";
import { type ContractFixture, type ContractOptions, describeContract } from "./contract.ts";

/** A Clock, and a way to let time pass on it. */
export interface ClockFixture extends ContractFixture {
  readonly clock: Clock;
  /** Resolves when at least so many milliseconds have passed on the clock: a virtual one is moved, a real one waited for. */
  readonly pass: (durationMs: number) => Promise<void>;
}

/** What every Clock must do. */
export function describeClockContract(options: ContractOptions<ClockFixture>): void {
  describeContract("Clock contract", options, (test) => {
    test("monotonic time never goes back, and passes as time passes", async ({ clock, pass }) => {
      const readings = [clock.monotonicMs()];
      for (let turn = 0; turn < 5; turn += 1) {
        await pass(5);
        readings.push(clock.monotonicMs());
      }
      const steps = readings.slice(1).map((reading, index) => reading - (readings[index] ?? 0));
      // A timer of the host may fire within the millisecond before its time.
      for (const step of steps) expect(step).toBeGreaterThanOrEqual(4);
    });

    test("wall time is in milliseconds since 1970", ({ clock }) => {
      expect(clock.nowMs()).toBeGreaterThan(Date.UTC(2020, 0, 1));
      expect(clock.nowMs()).toBeLessThan(Date.UTC(2200, 0, 1));
      return Promise.resolve();
    });

    test("a timer fires once, not before its time", async ({ clock, pass }) => {
      const startMs = clock.monotonicMs();
      const firedAtMs: number[] = [];
      clock.setTimer(10, () => firedAtMs.push(clock.monotonicMs() - startMs));
      await pass(60);
      expect(firedAtMs).toHaveLength(1);
      expect(firedAtMs[0]).toBeGreaterThanOrEqual(9);
    });

    test("a timer of zero never fires within the call that sets it", async ({ clock, pass }) => {
      let fired = false;
      clock.setTimer(0, () => {
        fired = true;
      });
      expect(fired).toBe(false);
      await pass(20);
      expect(fired).toBe(true);
    });

    test("timers fire in the order of their times", async ({ clock, pass }) => {
      const order: string[] = [];
      clock.setTimer(30, () => order.push("late"));
      clock.setTimer(5, () => order.push("early"));
      await pass(80);
      expect(order).toEqual(["early", "late"]);
    });

    test("a cancelled timer does not fire, and may be cancelled again, also after it fired", async ({
      clock,
      pass,
    }) => {
      let fired = 0;
      const count = () => {
        fired += 1;
      };
      const cancelled = clock.setTimer(5, count);
      cancelled.cancel();
      cancelled.cancel();
      const done = clock.setTimer(5, count);
      await pass(40);
      done.cancel();
      await pass(10);
      expect(fired).toBe(1);
    });

    test("delays beyond what the host's timers hold do not fire early", async ({ clock, pass }) => {
      let fired = false;
      // Node.js turns a delay above 2^31-1 into one millisecond.
      const timer = clock.setTimer(2 ** 32, () => {
        fired = true;
      });
      await pass(30);
      timer.cancel();
      expect(fired).toBe(false);
    });
  });
}
