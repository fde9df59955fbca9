import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CryptoRandom } from "./crypto-random.ts";
import { SystemClock } from "./system-clock.ts";

describe("SystemClock", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("fires once, not before its time, never synchronously", () => {
    const clock = new SystemClock();
    const fired: number[] = [];
    const start = clock.monotonicMs();
    clock.setTimer(1.5, () => fired.push(clock.monotonicMs() - start));
    clock.setTimer(0, () => fired.push(0));
    expect(fired).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(fired).toEqual([0]);
    vi.advanceTimersByTime(10_000);
    expect(fired).toEqual([0, 2]);
  });

  it("takes delays beyond what a timer of Node.js can hold", () => {
    const clock = new SystemClock();
    let fired = 0;
    const days = 24 * 3_600_000;
    clock.setTimer(60 * days, () => (fired += 1));
    vi.advanceTimersByTime(59 * days);
    expect(fired).toBe(0);
    vi.advanceTimersByTime(1 * days);
    expect(fired).toBe(1);
  });

  it("cancels before, in the middle of a long wait, and after", () => {
    const clock = new SystemClock();
    let fired = 0;
    const days = 24 * 3_600_000;
    const long = clock.setTimer(60 * days, () => (fired += 1));
    vi.advanceTimersByTime(40 * days);
    long.cancel();
    vi.advanceTimersByTime(100 * days);
    expect(fired).toBe(0);
    const short = clock.setTimer(1, () => (fired += 1));
    vi.advanceTimersByTime(1);
    short.cancel();
    short.cancel();
    expect(fired).toBe(1);
  });

  it("tells wall time", () => {
    vi.setSystemTime(1_767_323_045_678);
    expect(new SystemClock().nowMs()).toBe(1_767_323_045_678);
  });
});

describe("CryptoRandom", () => {
  it("stays in [0, 1) and makes version 4 UUIDs", () => {
    const random = new CryptoRandom();
    const values = Array.from({ length: 1000 }, () => random.float());
    expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...values)).toBeLessThan(1);
    expect(new Set(values).size).toBe(1000);
    expect(random.uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
