import { VirtualClock } from "@nodelet/testkit";
import { describe, expect, it } from "vitest";
import { delay } from "./delay.ts";
import { Wake } from "./wake.ts";

const never = new AbortController().signal;

describe("Wake", () => {
  it("remembers one wake-up that came before the wait, and only one", async () => {
    const clock = new VirtualClock();
    const wake = new Wake(clock);
    wake.wake();
    wake.wake();
    await wake.wait(never);
    let woken = false;
    void wake.wait(never).then(() => {
      woken = true;
    });
    await clock.advance(60_000);
    expect(woken).toBe(false);
    wake.wake();
    await clock.settle();
    expect(woken).toBe(true);
  });

  it("keeps the earliest of the times it is given", async () => {
    const clock = new VirtualClock();
    const wake = new Wake(clock);
    wake.wakeAfter(5000);
    wake.wakeAfter(2000);
    wake.wakeAfter(9000);
    let atMs = -1;
    void wake.wait(never).then(() => {
      atMs = clock.monotonicMs();
    });
    await clock.advance(10_000);
    expect(atMs).toBe(2000);
    expect(clock.pendingTimers).toBe(0);
  });

  it("rounds a fraction of a millisecond up, so that time moves on", async () => {
    const clock = new VirtualClock();
    const wake = new Wake(clock);
    wake.wakeAfter(1e-9);
    const waited = wake.wait(never).then(() => clock.monotonicMs());
    await clock.advance(10);
    expect(await waited).toBe(1);
  });

  it("ends its wait when the signal fires", async () => {
    const clock = new VirtualClock();
    const stop = new AbortController();
    const waited = new Wake(clock).wait(stop.signal);
    stop.abort();
    await expect(waited).resolves.toBeUndefined();
  });
});

describe("delay", () => {
  it("tells whether the whole time passed", async () => {
    const clock = new VirtualClock();
    const stop = new AbortController();
    const whole = delay(clock, 1000);
    const cut = delay(clock, 1000, stop.signal);
    stop.abort();
    expect(await cut).toBe(false);
    await clock.advance(1000);
    expect(await whole).toBe(true);
    expect(await delay(clock, 1000, stop.signal)).toBe(false);
  });
});
