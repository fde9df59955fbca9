import { VirtualClock } from "@nodelet/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BackOff, nextBackOffMs } from "./backoff.ts";

const POLICY = { initialMs: 10_000, maxMs: 300_000 };

function setUp() {
  const clock = new VirtualClock();
  return { clock, backOff: new BackOff({ clock, policy: POLICY }) };
}

describe("the next window", () => {
  test.each([
    ["the first", undefined, 10_000],
    ["the second", { durationMs: 10_000, sinceUpdateMs: 0 }, 20_000],
    ["the last but one", { durationMs: 160_000, sinceUpdateMs: 160_000 }, 300_000],
    ["at the most", { durationMs: 300_000, sinceUpdateMs: 300_000 }, 300_000],
    ["after exactly twice the most", { durationMs: 300_000, sinceUpdateMs: 600_000 }, 300_000],
    ["after more than that all begins anew", { durationMs: 300_000, sinceUpdateMs: 600_001 }, 10_000],
  ])("%s", (_, previous, expected) => {
    expect(nextBackOffMs(POLICY, previous)).toBe(expected);
  });

  test("a longest window below the first is the first", () => {
    expect(nextBackOffMs({ initialMs: 10_000, maxMs: 5000 }, undefined)).toBe(5000);
  });
});

test("failures in a row wait 10, 20, 40, 80, 160, 300, 300 s", async () => {
  const { clock, backOff } = setUp();
  const waits: number[] = [];
  for (let failures = 0; failures < 7; failures += 1) {
    waits.push(backOff.next("k"));
    await clock.advance(waits.at(-1)!);
    expect(backOff.sinceUpdate("k")).toBeUndefined();
  }
  expect(waits).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
});

test("a window ends after its length and not before", async () => {
  const { clock, backOff } = setUp();
  const startMs = clock.nowMs();
  backOff.next("k");
  expect(backOff.sinceUpdate("k")).toEqual({ durationMs: 10_000, untilMs: startMs + 10_000 });
  await clock.advance(9999);
  expect(backOff.sinceUpdate("k")).toBeDefined();
  await clock.advance(1);
  expect(backOff.sinceUpdate("k")).toBeUndefined();
  expect(backOff.sinceUpdate("other")).toBeUndefined();
});

describe("counted from an event", () => {
  test("the window begins with the event, not with the update", async () => {
    const { clock, backOff } = setUp();
    backOff.next("k");
    await clock.advance(60_000);
    const finishedAtMs = clock.nowMs() - 4000;
    expect(backOff.sinceEvent("k", { wallMs: finishedAtMs })).toEqual({
      durationMs: 10_000,
      untilMs: finishedAtMs + 10_000,
    });
    await clock.advance(6000);
    expect(backOff.sinceEvent("k", { wallMs: finishedAtMs })).toBeUndefined();
  });

  test("a container that ran for more than ten minutes is not held", async () => {
    const { clock, backOff } = setUp();
    backOff.next("k");
    await clock.advance(600_001);
    expect(backOff.sinceEvent("k", { wallMs: clock.nowMs() })).toBeUndefined();
    expect(backOff.next("k", { eventWallMs: clock.nowMs() })).toBe(10_000);
  });

  test("one that ran for just ten minutes is", async () => {
    const { clock, backOff } = setUp();
    backOff.next("k");
    await clock.advance(600_000);
    expect(backOff.sinceEvent("k", { wallMs: clock.nowMs() })).toBeDefined();
    expect(backOff.next("k", { eventWallMs: clock.nowMs() })).toBe(20_000);
  });

  test.each([-3_600_000, 3_600_000])("a wall clock that jumps by %i ms changes nothing", async (jumpMs) => {
    const { clock, backOff } = setUp();
    backOff.next("k");
    const event = { wallMs: clock.nowMs() };
    expect(backOff.sinceEvent("k", event)).toBeDefined();
    clock.jumpWall(jumpMs);
    await clock.advance(9999);
    expect(backOff.sinceEvent("k", event)).toBeDefined();
    await clock.advance(1);
    expect(backOff.sinceEvent("k", event)).toBeUndefined();
  });

  test("an event in the future holds for one window from now", async () => {
    const { clock, backOff } = setUp();
    backOff.next("k");
    const event = { wallMs: clock.nowMs() + 86_400_000 };
    expect(backOff.sinceEvent("k", event)?.untilMs).toBe(clock.nowMs() + 10_000);
    await clock.advance(10_000);
    expect(backOff.sinceEvent("k", event)).toBeUndefined();
  });
});

describe("across a restart", () => {
  test("windows go on where they were", async () => {
    const { clock, backOff } = setUp();
    backOff.next("k");
    backOff.next("k");
    const kept: unknown = JSON.parse(JSON.stringify(backOff.export()));
    await clock.advance(5000);
    const restarted = new BackOff({ clock, policy: POLICY });
    restarted.restore(kept);
    expect(restarted.sinceUpdate("k")).toEqual({ durationMs: 20_000, untilMs: clock.nowMs() + 15_000 });
    expect(restarted.next("k")).toBe(40_000);
  });

  test.each([
    ["nothing", undefined],
    ["no list", { k: 1 }],
    ["no records", [null, 1, "k", [], {}]],
    ["a wrong type", [{ key: 1, durationMs: 10, updatedAtMs: 10 }]],
    ["no number", [{ key: "k", durationMs: Number.NaN, updatedAtMs: 0 }]],
  ])("%s is dropped", (_, state) => {
    const { backOff } = setUp();
    backOff.restore(state);
    expect(backOff.export()).toEqual([]);
  });

  test("whatever a file says, nothing is held for longer than the longest window", () => {
    const record = fc.record({ key: fc.constant("k"), durationMs: fc.double(), updatedAtMs: fc.double() });
    fc.assert(
      fc.property(record, (damaged) => {
        const { clock, backOff } = setUp();
        backOff.restore([damaged]);
        const window = backOff.sinceUpdate("k");
        const held = window === undefined ? 0 : window.untilMs - clock.nowMs();
        expect(held).toBeLessThanOrEqual(POLICY.maxMs);
      }),
    );
  });
});

test("what is forgotten begins anew", async () => {
  const { clock, backOff } = setUp();
  for (const key of ["a_1", "a_2", "b_1"]) backOff.next(key);
  backOff.delete("a_1");
  backOff.retain((key) => key.startsWith("a_"));
  expect(backOff.export().map(({ key }) => key)).toEqual(["a_2"]);
  await clock.advance(600_000);
  backOff.prune();
  expect(backOff.export()).toHaveLength(1);
  await clock.advance(1);
  backOff.prune();
  expect(backOff.export()).toEqual([]);
});

test("the number of keys is bounded; the oldest go", () => {
  const { backOff } = setUp();
  for (let index = 0; index < 10_001; index += 1) backOff.next(`k${index}`);
  const keys = backOff.export().map(({ key }) => key);
  expect(keys).toHaveLength(10_000);
  expect(keys).not.toContain("k0");
  expect(keys).toContain("k10000");
});
