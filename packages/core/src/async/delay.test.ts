import { VirtualClock } from "@nodelet/testkit";
import { describe, expect, it } from "vitest";
import { orCancelled, withDeadline } from "./delay.ts";

const never = new Promise<never>(() => undefined);

describe("a call with a deadline", () => {
  it("that never settles and heeds no signal is over at the deadline", async () => {
    const clock = new VirtualClock();
    const call = withDeadline({ clock, timeoutMs: 5000, what: "the call" }, () => never);
    const outcome = call.catch((error: unknown) => error);
    await clock.advance(5000);
    expect(await outcome).toMatchObject({ kind: "deadline", message: "the call did not answer within 5s" });
    expect(clock.pendingTimers).toBe(0);
  });

  it("is cancelled at once with its parent, and does not even begin after it", async () => {
    const clock = new VirtualClock();
    const parent = new AbortController();
    let begun = 0;
    const begin = (): Promise<never> => {
      begun += 1;
      return never;
    };
    const options = { clock, timeoutMs: 5000, what: "the call", parent: parent.signal };
    const call = withDeadline(options, begin);
    parent.abort();
    await expect(call).rejects.toMatchObject({ kind: "cancelled" });
    await expect(withDeadline(options, begin)).rejects.toMatchObject({ kind: "cancelled" });
    expect(begun).toBe(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it("that throws before it answers a promise rejects and leaves no timer", async () => {
    const clock = new VirtualClock();
    const call = withDeadline({ clock, timeoutMs: 5000, what: "the call" }, () => {
      throw new Error("no");
    });
    await expect(call).rejects.toThrow("no");
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("a promise that may be given up", () => {
  it("answers as it settles, or is cancelled when the signal fires, before or after", async () => {
    const stop = new AbortController();
    const options = { what: "waiting", signal: stop.signal };
    await expect(orCancelled(Promise.resolve(1), options)).resolves.toBe(1);
    await expect(orCancelled(Promise.reject(new Error("no")), options)).rejects.toThrow("no");
    const waiting = orCancelled(never, options);
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ kind: "cancelled", message: "waiting was cancelled" });
    await expect(orCancelled(never, options)).rejects.toMatchObject({ kind: "cancelled" });
  });
});
