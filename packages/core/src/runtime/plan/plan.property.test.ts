import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Container, Pod } from "../../api/index.ts";
import {
  container,
  exited,
  instance,
  NOW_MS,
  observedPod,
  planSnapshot,
  podOf,
  sandbox,
  sidecar,
} from "../observed-pod.test-support.ts";
import type { ObservedContainer, ObservedPod, ObservedSandbox } from "../observed-pod.ts";
import type { PlanStep, PodPlan } from "../pod-plan.ts";
import type { PodSnapshot } from "../pod-snapshot.ts";
import { mayRun, planKill } from "./kill-plan.ts";
import { ancestors, killed, started } from "./plan.test-support.ts";
import { planPod } from "./plan.ts";

const policy = fc.constantFrom("Always", "OnFailure", "Never");

const arbitraryPod: fc.Arbitrary<Pod> = fc
  .record({
    restartPolicy: policy,
    init: fc.array(fc.boolean(), { maxLength: 3 }),
    regular: fc.array(fc.option(policy, { nil: undefined }), { minLength: 1, maxLength: 3 }),
    debug: fc.boolean(),
    deleting: fc.boolean(),
    phase: fc.constantFrom(undefined, undefined, undefined, "Running", "Failed", "Succeeded"),
    hostNetwork: fc.boolean(),
  })
  .map(({ restartPolicy, init, regular, debug, deleting, phase, hostNetwork }) =>
    podOf(
      {
        restartPolicy,
        hostNetwork,
        initContainers: init.map((side, at) => (side ? sidecar(`i${at}`) : container(`i${at}`))),
        containers: regular.map((own, at) => container(`c${at}`, own === undefined ? {} : { restartPolicy: own })),
        ephemeralContainers: debug ? [{ name: "debug", image: "example.com/debug:1" }] : [],
      },
      {
        metadata: deleting ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {},
        ...(phase !== undefined && { status: { phase } }),
      },
    ),
  );

const arbitraryInstance = fc
  .record({
    name: fc.constantFrom("i0", "i1", "i2", "c0", "c1", "c2", "debug", "stranger"),
    sandboxId: fc.constantFrom("s0", "s1", "s2"),
    state: fc.constantFrom("created", "running", "exited", "unknown"),
    exitCode: fc.constantFrom(0, 1, 137),
    ageMs: fc.integer({ min: 0, max: 100_000 }),
    restartCount: fc.integer({ min: 0, max: 5 }),
    hash: fc.constantFrom("", "1", undefined),
  })
  .map(({ hash, ...fields }) => instance(fields.name, { ...fields, ...(hash !== undefined && { hash }) }));

const arbitraryObserved: fc.Arbitrary<ObservedPod> = fc
  .record({
    containers: fc.array(arbitraryInstance, { maxLength: 8 }),
    sandboxes: fc.uniqueArray(
      fc.record({
        attempt: fc.integer({ min: 0, max: 2 }),
        ready: fc.boolean(),
        hasAddress: fc.boolean(),
        networkMode: fc.constantFrom("POD" as const, "NODE" as const),
      }),
      { selector: ({ attempt }) => attempt },
    ),
  })
  .map(({ containers, sandboxes }) => {
    const newestFirst = sandboxes
      .sort((left, right) => right.attempt - left.attempt)
      .map(({ hasAddress, ...rest }) => sandbox(`s${rest.attempt}`, { ...rest, ips: hasAddress ? ["10.88.0.5"] : [] }));
    return observedPod(
      containers.map((each, at) => ({ ...each, id: `${each.name}-${at}` })),
      newestFirst,
    );
  });

const arbitrarySnapshot: fc.Arbitrary<PodSnapshot> = fc
  .record({ pod: arbitraryPod, observed: arbitraryObserved, held: fc.subarray(["i0", "c0", "c1"]) })
  .map(({ pod, observed, held }) =>
    planSnapshot(pod, observed, {
      crashBackOff: new Map(held.map((name) => [name, { durationMs: 10_000, untilMs: NOW_MS + 1 }])),
    }),
  );

describe("a plan of any pod in any state", () => {
  const assertHolds = (check: (snapshot: PodSnapshot, plan: PodPlan) => void): void => {
    fc.assert(
      fc.property(arbitrarySnapshot, (snapshot) => check(snapshot, planPod(snapshot))),
      { numRuns: 500 },
    );
  };

  it("is a graph without cycles whose edges all lead to steps, and whose step names are unique", () => {
    assertHolds((_, plan) => {
      for (const step of plan.steps) ancestors(plan, step.id);
      expect(new Set(plan.steps.map(({ id }) => id)).size).toBe(plan.steps.length);
    });
  });

  it("starts no container of which an instance may live without having killed that first", () => {
    assertHolds(({ observed }, plan) => {
      for (const step of plan.steps) {
        if (step.kind !== "startContainer") continue;
        const before = mustSucceedBefore(plan, step.id);
        for (const live of observed.containers.filter((each) => each.name === step.containerName && mayRun(each))) {
          expect(before).toContain(`kill:${live.id}`);
        }
      }
    });
  });

  it("makes no sandbox before every other one was stopped and everything in them killed", () => {
    assertHolds(({ observed }, plan) => {
      const makesOne = plan.steps.some(({ kind }) => kind === "runSandbox");
      const before = mustSucceedBefore(plan, "runSandbox");
      const stops = observed.sandboxes.map(({ id }) => `stopSandbox:${id}`);
      const kills = observed.containers.filter(mayRun).map(({ id }) => `kill:${id}`);
      const missing = [...stops, ...kills].filter((id) => !before.has(id));
      expect(makesOne ? missing : []).toEqual([]);
    });
  });

  it("starts nothing of a pod that is deleted or over", () => {
    assertHolds(({ pod }, plan) => {
      const over =
        pod.metadata?.deletionTimestamp !== undefined || ["Failed", "Succeeded"].includes(pod.status?.phase ?? "");
      const others = plan.steps.filter(({ kind }) => kind !== "killContainer" && kind !== "stopSandbox");
      expect(over ? others : []).toEqual([]);
    });
  });

  it("starts each container at most once, and never one that is in back-off", () => {
    assertHolds(({ crashBackOff }, plan) => {
      expect(new Set(started(plan)).size).toBe(started(plan).length);
      for (const name of started(plan)) expect(crashBackOff.has(name)).toBe(false);
    });
  });

  it("is the same for the same snapshot, which it does not touch", () => {
    assertHolds((snapshot, plan) => {
      const copy = structuredClone({ pod: snapshot.pod, observed: snapshot.observed });
      expect(planPod(snapshot)).toEqual(plan);
      expect({ pod: snapshot.pod, observed: snapshot.observed }).toEqual(copy);
    });
  });
});

describe("a kill plan of any pod in any state", () => {
  it("kills every running container exactly once and stops every sandbox after all kills", () => {
    fc.assert(
      fc.property(arbitrarySnapshot, (snapshot) => {
        const plan = planKill(snapshot);
        const running = snapshot.observed.containers.filter(({ state }) => state === "running").map(({ id }) => id);
        for (const id of running) expect(killed(plan).filter((each) => each === id)).toHaveLength(1);
        const stops = plan.steps.filter((step) => step.kind === "stopSandbox");
        expect(stops.map(({ sandboxId }) => sandboxId)).toEqual(snapshot.observed.sandboxes.map(({ id }) => id));
        for (const stop of stops)
          for (const id of killed(plan)) expect(ancestors(plan, stop.id)).toContain(`kill:${id}`);
      }),
      { numRuns: 300 },
    );
  });
});

describe("carrying plans out again and again", () => {
  it("brings any pod that restarts always to rest with one live instance of each container", () => {
    fc.assert(
      fc.property(arbitraryPod, arbitraryObserved, (made, observed) => {
        const pod = lasting(made);
        const end = settle(pod, observed);
        const serving = end.sandboxes.filter(({ ready }) => ready);
        expect(serving).toHaveLength(1);
        const lasts = [
          ...(pod.spec?.containers ?? []),
          ...(pod.spec?.initContainers ?? []).filter((each) => each.restartPolicy === "Always"),
        ];
        for (const { name } of lasts) {
          const live = end.containers.filter((each) => each.name === name && mayRun(each));
          expect(live.map(({ state, sandboxId }) => [state, sandboxId])).toEqual([["running", serving[0]?.id]]);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("brings any pod to a state in which nothing is left to start", () => {
    fc.assert(
      fc.property(arbitraryPod, arbitraryObserved, (pod, observed) => {
        expect(started(planPod(planSnapshot(pod, settle(pod, observed))))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});

/** The pod with every policy Always, not deleted and not over. */
function lasting(pod: Pod): Pod {
  const { deletionTimestamp: _gone, ...metadata } = pod.metadata ?? {};
  const { status: _status, ...rest } = pod;
  const containers = (pod.spec?.containers ?? []).map(({ restartPolicy: _own, ...each }): Container => each);
  return { ...rest, metadata, spec: { ...pod.spec, containers, restartPolicy: "Always" } };
}

/** Steps that must have succeeded before the step: its needs, and theirs. */
function mustSucceedBefore(plan: PodPlan, id: string): ReadonlySet<string> {
  const needs = plan.steps.find((step) => step.id === id)?.needs ?? [];
  return new Set(needs.flatMap((need) => [need, ...mustSucceedBefore(plan, need)]));
}

/** Carries out plan after plan on a runtime in which everything works and plain init containers end well, until nothing changes. */
function settle(pod: Pod, observed: ObservedPod): ObservedPod {
  let state = observed;
  for (let round = 0; round < 30; round += 1) {
    const plan = planPod(planSnapshot(pod, state));
    const next = plan.steps.reduce((each, step) => carryOut(pod, each, step, round), state);
    if (plan.killPod) return next;
    state = plan.steps.length > 0 ? next : withInitDone(pod, state);
    if (plan.steps.length === 0 && state === next) return state;
  }
  throw new Error("30 rounds, and there is still something to do");
}

/** The state after every plain init container that runs has ended well; the same object when none runs. */
function withInitDone(pod: Pod, observed: ObservedPod): ObservedPod {
  const plain = (pod.spec?.initContainers ?? []).filter((each) => each.restartPolicy === undefined);
  const runs = (each: ObservedContainer): boolean =>
    each.state === "running" && plain.some(({ name }) => name === each.name);
  if (!observed.containers.some(runs)) return observed;
  const containers = observed.containers.map((each) => (runs(each) ? { ...each, state: "exited" as const } : each));
  return { ...observed, containers };
}

function carryOut(pod: Pod, observed: ObservedPod, step: PlanStep, round: number): ObservedPod {
  const withContainers = (containers: readonly ObservedContainer[]): ObservedPod => ({ ...observed, containers });
  const withSandboxes = (sandboxes: readonly ObservedSandbox[]): ObservedPod => ({ ...observed, sandboxes });
  switch (step.kind) {
    case "killContainer":
      return withContainers(
        observed.containers.map((each) =>
          each.id === step.containerId ? { ...each, state: "exited", exitCode: 137, finishedAtMs: NOW_MS } : each,
        ),
      );
    case "removeContainer":
      return withContainers(observed.containers.filter(({ id }) => id !== step.containerId));
    case "stopSandbox":
      return withSandboxes(
        observed.sandboxes.map((each) => (each.id === step.sandboxId ? { ...each, ready: false } : each)),
      );
    case "runSandbox": {
      const networkMode = pod.spec?.hostNetwork === true ? "NODE" : "POD";
      return withSandboxes([
        sandbox(`n${step.attempt}`, { attempt: step.attempt, networkMode }),
        ...observed.sandboxes,
      ]);
    }
    case "startContainer": {
      const id = `${step.containerName}-round${round}`;
      const fields = {
        id,
        sandboxId: observed.sandboxes[0]?.id ?? "",
        ageMs: -1000 * (round + 1),
        restartCount: round + 10,
      };
      const ends = step.containerKind === "init" || step.containerKind === "ephemeral";
      const next = ends ? exited(step.containerName, 0, fields) : instance(step.containerName, fields);
      return withContainers([next, ...observed.containers]);
    }
    case "ensureImage":
    case "createContainer":
      return observed;
  }
}
