import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  effectiveGrace,
  LEGAL_EDGES,
  moveTo,
  type Termination,
  type WorkerPhase,
  type WorkerState,
} from "./worker-state.ts";

const PHASES: readonly WorkerPhase[] = ["waiting", "syncing", "terminating", "terminated", "finished"];
const termination: Termination = {
  graceSeconds: 5,
  status: undefined,
  evicted: false,
  deleted: true,
  reason: "deleted",
};

function stateOf(phase: WorkerPhase): WorkerState {
  return phase === "waiting" || phase === "syncing" ? { phase } : { phase, termination };
}

describe("a pod worker's states", () => {
  const legal = new Set([
    "waiting>syncing",
    "waiting>terminating",
    "syncing>terminating",
    "terminating>terminated",
    "terminated>finished",
  ]);
  const edges = PHASES.flatMap((from) => PHASES.map((to) => ({ from, to, allowed: legal.has(`${from}>${to}`) })));

  it.each(edges.filter(({ allowed }) => allowed))("go from $from to $to", ({ from, to }) => {
    expect(moveTo(stateOf(from), stateOf(to))).toEqual(stateOf(to));
  });

  it.each(edges.filter(({ allowed }) => !allowed))("do not go from $from to $to", ({ from, to }) => {
    expect(() => moveTo(stateOf(from), stateOf(to))).toThrow(`illegal pod worker transition ${from} -> ${to}`);
  });

  it("lead from every state to finished, and nowhere from there", () => {
    for (const from of PHASES) {
      let phase = from;
      for (let steps = 0; phase !== "finished" && steps < PHASES.length; steps += 1)
        phase = LEGAL_EDGES[phase].at(-1) as WorkerPhase;
      expect(phase).toBe("finished");
    }
    expect(LEGAL_EDGES.finished).toEqual([]);
  });
});

describe("effective grace", () => {
  it.each([
    ["the spec's when nothing else is set", { specSeconds: 30 }, 30],
    ["the deletion's before the spec's", { specSeconds: 30, deletionGraceSeconds: 7 }, 7],
    ["the override when it is less", { specSeconds: 30, deletionGraceSeconds: 7, overrideSeconds: 3 }, 3],
    ["what was set before when it is less", { current: 4, deletionGraceSeconds: 7, overrideSeconds: 9 }, 4],
    ["at least 1 s", { overrideSeconds: 0 }, 1],
    ["1 s when nothing is set at all", {}, 1],
    ["not a zero of before", { current: 0, deletionGraceSeconds: 7 }, 7],
  ] as const)("is %s", (_rule, sources, expected) => {
    const all = {
      current: undefined,
      deletionGraceSeconds: undefined,
      overrideSeconds: undefined,
      specSeconds: undefined,
      ...sources,
    };
    expect(effectiveGrace(all)).toBe(expected);
  });

  it("never grows once it is set", () => {
    const seconds = fc.option(fc.integer({ min: 0, max: 1000 }), { nil: undefined });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        seconds,
        seconds,
        seconds,
        (current, deletionGraceSeconds, overrideSeconds, specSeconds) => {
          expect(effectiveGrace({ current, deletionGraceSeconds, overrideSeconds, specSeconds })).toBeLessThanOrEqual(
            current,
          );
        },
      ),
    );
  });
});
