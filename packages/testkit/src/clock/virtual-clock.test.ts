import { describe, expect, it } from "vitest";
import { VIRTUAL_EPOCH_MS, VirtualClock } from "./virtual-clock.ts";

describe("VirtualClock", () => {
  it("stands still until it is moved", async () => {
    const clock = new VirtualClock();
    let fired = false;
    clock.setTimer(0, () => {
      fired = true;
    });
    await clock.settle();
    expect([clock.nowMs(), clock.monotonicMs(), fired]).toEqual([VIRTUAL_EPOCH_MS, 0, false]);
  });

  it("starts where it is told", () => {
    expect(new VirtualClock({ startMs: Date.UTC(2030, 0, 1) }).nowMs()).toBe(Date.UTC(2030, 0, 1));
  });

  it("fires timers in order of time, then of setting, each at its own instant", async () => {
    const clock = new VirtualClock();
    const seen: string[] = [];
    const note = (name: string) => () => seen.push(`${name}@${clock.monotonicMs()}`);
    clock.setTimer(20, note("c"));
    clock.setTimer(10, note("a"));
    clock.setTimer(20, note("d"));
    clock.setTimer(15, note("b"));
    clock.setTimer(31, note("late"));
    await clock.advance(30);
    expect(seen).toEqual(["a@10", "b@15", "c@20", "d@20"]);
    expect([clock.monotonicMs(), clock.pendingTimers]).toEqual([30, 1]);
  });

  it("lets promise chains come to rest between two timers of one instant", async () => {
    const clock = new VirtualClock();
    const seen: string[] = [];
    clock.setTimer(5, () => {
      void (async () => {
        for (let turn = 0; turn < 5_000; turn += 1) await Promise.resolve();
        seen.push("chain");
      })();
    });
    clock.setTimer(5, () => seen.push("second"));
    await clock.advance(5);
    expect(seen).toEqual(["chain", "second"]);
  });

  it("fires timers that are set on the way when they fall due within the move", async () => {
    const clock = new VirtualClock();
    const at: number[] = [];
    const again = () => {
      at.push(clock.monotonicMs());
      clock.setTimer(10, again);
    };
    clock.setTimer(10, again);
    await clock.advance(35);
    expect(at).toEqual([10, 20, 30]);
  });

  it("does not fire a cancelled timer, however often it is cancelled, before or after its time", async () => {
    const clock = new VirtualClock();
    let count = 0;
    const timers = Array.from({ length: 500 }, (_, index) => clock.setTimer(index, () => (count += 1)));
    for (const timer of timers.slice(10)) timer.cancel();
    timers[20]?.cancel();
    expect(clock.pendingTimers).toBe(10);
    await clock.advance(1_000);
    timers[0]?.cancel();
    expect([count, clock.pendingTimers]).toEqual([10, 0]);
  });

  it("keeps the order of many timers set and cancelled at random", async () => {
    const clock = new VirtualClock();
    const due: number[] = [];
    for (let index = 0; index < 1_000; index += 1) {
      const delayMs = (index * 7_919) % 1_009;
      const timer = clock.setTimer(delayMs, () => due.push(delayMs));
      if (index % 3 === 0) timer.cancel();
    }
    await clock.advance(1_009);
    expect(due).toHaveLength(666);
    expect(due).toEqual([...due].sort((a, b) => a - b));
  });

  it("runUntil stops at the timer that makes the condition hold", async () => {
    const clock = new VirtualClock();
    let ready = false;
    clock.setTimer(700, () => {
      ready = true;
    });
    clock.setTimer(900, () => {
      ready = false;
    });
    expect(await clock.runUntil(() => ready, { limitMs: 10_000 })).toBe(700);
    expect([ready, clock.monotonicMs()]).toEqual([true, 700]);
  });

  it("runUntil says what did not come, with time at the limit", async () => {
    const clock = new VirtualClock();
    await expect(clock.runUntil(() => false, { limitMs: 50, what: "pod a Running" })).rejects.toMatchObject({
      kind: "deadline",
      message: "pod a Running did not come within 50 ms",
    });
    expect(clock.monotonicMs()).toBe(50);
  });

  it("drive answers what the promise answers, alone and overlapping", async () => {
    const clock = new VirtualClock();
    const after = (delayMs: number, value: string) =>
      new Promise<string>((resolve) => clock.setTimer(delayMs, () => resolve(value)));
    expect(await clock.drive(after(60_000, "one"))).toBe("one");
    expect(clock.monotonicMs()).toBe(60_000);
    expect(await Promise.all([clock.drive(after(20, "slow")), clock.drive(after(10, "quick"))])).toEqual([
      "slow",
      "quick",
    ]);
    await expect(clock.drive(Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(clock.monotonicMs()).toBe(60_020);
  });

  it("can be advanced right after a drive, and not during one", async () => {
    const clock = new VirtualClock();
    await clock.drive(Promise.resolve());
    await clock.advance(5);
    expect(clock.monotonicMs()).toBe(5);
    const driven = clock.drive(new Promise<void>((resolve) => clock.setTimer(10, resolve)));
    await expect(clock.advance(5)).rejects.toMatchObject({ kind: "conflict" });
    await driven;
  });

  it("drive waits for timers that are set later", async () => {
    const clock = new VirtualClock();
    let finish: ((value: string) => void) | undefined;
    const waiting = clock.drive(new Promise<string>((resolve) => (finish = resolve)));
    await clock.settle();
    clock.setTimer(5, () => finish?.("done"));
    expect(await waiting).toBe("done");
  });

  it("refuses two moves at once", async () => {
    const clock = new VirtualClock();
    const first = clock.advance(10);
    await expect(clock.advance(10)).rejects.toMatchObject({ kind: "conflict" });
    await first;
    expect(clock.monotonicMs()).toBe(10);
  });

  it("passes an error of a timer callback to the one who moved it, and can be moved again", async () => {
    const clock = new VirtualClock();
    clock.setTimer(5, () => {
      throw new Error("in a callback");
    });
    await expect(clock.advance(10)).rejects.toThrow("in a callback");
    await clock.advance(10);
    expect(clock.monotonicMs()).toBe(15);
  });

  it("ends a run whose timers hold time still", async () => {
    const clock = new VirtualClock();
    const again = () => void clock.setTimer(0, again);
    again();
    await expect(clock.advance(1)).rejects.toMatchObject({ kind: "internal" });
  });

  it("jumps on the wall without moving timers", async () => {
    const clock = new VirtualClock();
    let fired = false;
    clock.setTimer(1_000, () => {
      fired = true;
    });
    clock.jumpWall(3_600_000);
    await clock.advance(999);
    expect([clock.nowMs() - VIRTUAL_EPOCH_MS, clock.monotonicMs(), fired]).toEqual([3_600_999, 999, false]);
  });
});
