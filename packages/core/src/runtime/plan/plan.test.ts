import { describe, expect, it } from "vitest";
import {
  container,
  exited,
  instance,
  NOW_MS,
  observedPod,
  planSnapshot,
  podOf,
  probesOf,
  sandbox,
  sidecar,
} from "../observed-pod.test-support.ts";
import { ancestors, outline, started, stepOf } from "./plan.test-support.ts";
import { planPod } from "./plan.ts";

const two = podOf({ containers: [container("a"), container("b")] });

describe("a pod that nothing was made of yet", () => {
  it("gets a sandbox, and its containers one after another in the order of the spec", () => {
    const plan = planPod(planSnapshot(two, observedPod([], [])));
    expect(outline(plan)).toEqual([
      "run sandbox 0",
      "image a",
      "create a 0",
      "start a",
      "image b",
      "create b 0",
      "start b",
    ]);
    expect(plan.killPod).toBe(false);
    expect(stepOf(plan, "createContainer", "create:a")).toMatchObject({
      needs: ["runSandbox", "image:a"],
      after: [],
      sandboxId: undefined,
    });
    expect(stepOf(plan, "createContainer", "create:b")).toMatchObject({
      needs: ["runSandbox", "image:b"],
      after: ["start:a"],
    });
  });

  it("fetches every image beside the sandbox", () => {
    const plan = planPod(planSnapshot(two, observedPod([], [])));
    expect(ancestors(plan, "image:a").size + ancestors(plan, "image:b").size).toBe(0);
  });

  it("starts the first init container only", () => {
    const pod = podOf({ initContainers: [container("i1"), container("i2")] });
    expect(started(planPod(planSnapshot(pod, observedPod([], []))))).toEqual(["i1"]);
  });
});

describe("a sandbox that is lost", () => {
  const gone = sandbox("s1", { ready: false });

  it("is replaced after everything in it was killed and it was stopped", () => {
    const observed = observedPod([instance("app", { annotations: {} })], [gone]);
    const plan = planPod(planSnapshot(podOf(), observed));
    expect(outline(plan)).toEqual([
      "kill app-0 sandboxLost 30s",
      "stop s1",
      "run sandbox 1",
      "image app",
      "create app 1",
      "start app",
    ]);
    expect(stepOf(plan, "runSandbox", "runSandbox")).toMatchObject({
      needs: ["kill:app-0", "stopSandbox:s1"],
      replaces: "s1",
    });
    expect(stepOf(plan, "killContainer", "kill:app-0").reason.message).toBe("Stopping container app");
  });

  it("is not replaced under restartPolicy Never once containers existed", () => {
    const pod = podOf({ restartPolicy: "Never" });
    const plan = planPod(planSnapshot(pod, observedPod([exited("app", 1)], [gone])));
    expect(outline(plan)).toEqual(["stop s1"]);
    expect(plan.killPod).toBe(true);
  });

  it("is not replaced under restartPolicy Never for a container that was never made either", () => {
    const pod = podOf({ restartPolicy: "Never", containers: [container("a"), container("b")] });
    const plan = planPod(planSnapshot(pod, observedPod([exited("a", 0)], [gone])));
    expect(plan.killPod).toBe(true);
    expect(started(plan)).toEqual([]);
  });

  it("that the runtime has nothing of is made anew for a pod that has not come past its init containers", () => {
    const pod = podOf({ restartPolicy: "Never", initContainers: [container("i1")] });
    expect(started(planPod(planSnapshot(pod, observedPod([exited("i1", 0)], []))))).toEqual(["i1"]);
  });

  it("is replaced under restartPolicy Never when no container was ever made", () => {
    const pod = podOf({ restartPolicy: "Never" });
    expect(started(planPod(planSnapshot(pod, observedPod([], [gone]))))).toEqual(["app"]);
  });

  it("leaves alone what finished under OnFailure, and is not replaced when that is all", () => {
    const pod = podOf({ restartPolicy: "OnFailure", containers: [container("a"), container("b")] });
    const half = observedPod([exited("a", 0), exited("b", 1)], [gone]);
    expect(started(planPod(planSnapshot(pod, half)))).toEqual(["b"]);
    const all = observedPod([exited("a", 0), exited("b", 0)], [gone]);
    expect(planPod(planSnapshot(pod, all))).toMatchObject({ killPod: true });
    expect(started(planPod(planSnapshot(pod, all)))).toEqual([]);
  });

  it("never runs a finished pod again when its sandbox is gone from the runtime", () => {
    const pod = podOf({ restartPolicy: "Never" });
    expect(started(planPod(planSnapshot(pod, observedPod([exited("app", 0)], []))))).toEqual([]);
  });

  it("takes the init containers of the old sandbox away and begins with the first", () => {
    const pod = podOf({ initContainers: [container("i1"), sidecar("s")] });
    const observed = observedPod([exited("i1", 0), instance("s"), instance("app")], [gone]);
    const plan = planPod(planSnapshot(pod, observed));
    expect(started(plan)).toEqual(["i1"]);
    expect(outline(plan)).toContain("remove i1-0");
    expect(stepOf(plan, "removeContainer", "remove:s-0").needs).toContain("kill:s-0");
    expect(ancestors(plan, "runSandbox")).toContain("remove:i1-0");
  });
});

describe("a container in a serving sandbox", () => {
  it("that runs as it shall is left alone", () => {
    expect(planPod(planSnapshot(podOf(), observedPod([instance("app")])))).toEqual({
      steps: [],
      waiting: [],
      killPod: false,
    });
  });

  it("that ended is started with the next restart count", () => {
    const plan = planPod(planSnapshot(podOf(), observedPod([exited("app", 1, { restartCount: 3 })])));
    expect(outline(plan)).toEqual(["image app", "create app 4", "start app"]);
    expect(stepOf(plan, "createContainer", "create:app").sandboxId).toBe("s1");
  });

  it("that was only created is started anew, whatever the policy", () => {
    const pod = podOf({ restartPolicy: "Never" });
    expect(outline(planPod(planSnapshot(pod, observedPod([instance("app", { state: "created" })]))))).toEqual([
      "remove app-0",
      "image app",
      "create app 1",
      "start app",
    ]);
  });

  it("whose state is unknown is killed before a new one exists", () => {
    const plan = planPod(planSnapshot(podOf(), observedPod([instance("app", { state: "unknown" })])));
    expect(outline(plan)).toEqual(["kill app-0 unknownState 30s", "image app", "create app 1", "start app"]);
    expect(stepOf(plan, "createContainer", "create:app").needs).toContain("kill:app-0");
    expect(stepOf(plan, "killContainer", "kill:app-0").reason.message).toBe(
      'Container is in "unknown" state, try killing it before restart',
    );
  });

  it("whose definition changed is replaced, also under Never", () => {
    const pod = podOf({ restartPolicy: "Never", containers: [container("app", { image: "example.com/app:2" })] });
    const plan = planPod(planSnapshot(pod, observedPod([instance("app")])));
    expect(outline(plan)).toEqual(["kill app-0 definitionChanged 30s", "image app", "create app 1", "start app"]);
    expect(stepOf(plan, "killContainer", "kill:app-0").reason.message).toBe(
      "Container app definition changed, will be restarted",
    );
  });

  it("that carries no hash is left running", () => {
    const pod = podOf({ containers: [container("app", { image: "example.com/app:2" })] });
    expect(planPod(planSnapshot(pod, observedPod([instance("app", { hash: "" })]))).steps).toEqual([]);
  });

  it.each([
    ["Always", "Container app failed liveness probe, will be restarted", ["app"]],
    ["OnFailure", "Container app failed liveness probe, will be restarted", ["app"]],
  ] as const)("that fails its liveness probe under %s is replaced", (restartPolicy, message, starts) => {
    const probes = probesOf({ liveness: { "app-0": "failure" } });
    const plan = planPod(planSnapshot(podOf({ restartPolicy }), observedPod([instance("app")]), { probes }));
    expect(stepOf(plan, "killContainer", "kill:app-0").reason).toEqual({ code: "livenessFailed", message });
    expect(started(plan)).toEqual(starts);
  });

  it("that fails its liveness probe under Never takes the pod down when it was the only one", () => {
    const probes = probesOf({ liveness: { "app-0": "failure" } });
    const plan = planPod(planSnapshot(podOf({ restartPolicy: "Never" }), observedPod([instance("app")]), { probes }));
    expect(outline(plan)).toEqual(["kill app-0 podDone 30s", "stop s1"]);
    expect(plan.killPod).toBe(true);
  });

  it("that fails its startup probe under Never is killed while another runs on", () => {
    const pod = podOf({ restartPolicy: "Never", containers: [container("a"), container("b")] });
    const probes = probesOf({ startup: { "a-0": "failure" } });
    const plan = planPod(planSnapshot(pod, observedPod([instance("a"), instance("b")]), { probes }));
    expect(outline(plan)).toEqual(["kill a-0 startupFailed 30s"]);
    expect(stepOf(plan, "killContainer", "kill:a-0").reason.message).toBe("Container a failed startup probe");
  });

  it("that ended for good leaves the others running", () => {
    const pod = podOf({ containers: [container("a", { restartPolicy: "Never" }), container("b")] });
    expect(planPod(planSnapshot(pod, observedPod([exited("a", 1), instance("b")]))).steps).toEqual([]);
  });

  it("takes the pod down when nothing is left to run, sidecars included", () => {
    const pod = podOf({ restartPolicy: "Never", initContainers: [sidecar("s")] });
    const plan = planPod(planSnapshot(pod, observedPod([instance("s"), exited("app", 0)])));
    expect(outline(plan)).toEqual(["kill s-0 podDone 30s", "stop s1"]);
    expect(plan.killPod).toBe(true);
  });

  it("never runs beside an older instance that is still alive", () => {
    const older = instance("app", { restartCount: 0, ageMs: 50_000 });
    const newer = instance("app", { restartCount: 1, ageMs: 10_000 });
    expect(outline(planPod(planSnapshot(podOf(), observedPod([older, newer]))))).toEqual(["kill app-0 duplicate 30s"]);
  });

  it("that lives in an older sandbox is killed before it starts in the serving one", () => {
    const observed = observedPod(
      [instance("app", { sandboxId: "s0" })],
      [sandbox("s1", { attempt: 1 }), sandbox("s0", { ready: false })],
    );
    const plan = planPod(planSnapshot(podOf(), observed));
    expect(outline(plan)).toEqual(["kill app-0 sandboxLost 30s", "image app", "create app 1", "start app"]);
    expect(stepOf(plan, "createContainer", "create:app").needs).toContain("kill:app-0");
  });
});

describe("crash back-off", () => {
  const inBackOff = (
    name: string,
    durationMs: number,
  ): { crashBackOff: Map<string, { durationMs: number; untilMs: number }> } => ({
    crashBackOff: new Map([[name, { durationMs, untilMs: NOW_MS + 4000 }]]),
  });

  it.each([
    [10_000, "10s"],
    [20_000, "20s"],
    [40_000, "40s"],
    [80_000, "1m20s"],
    [160_000, "2m40s"],
    [300_000, "5m0s"],
  ])("of %d ms holds a container back with the kubelet's words", (durationMs, words) => {
    const observed = observedPod([exited("app", 1)]);
    const plan = planPod(planSnapshot(podOf(), observed, inBackOff("app", durationMs)));
    expect(plan.steps).toEqual([]);
    expect(plan.killPod).toBe(false);
    expect(plan.waiting).toEqual([
      {
        containerName: "app",
        reason: "CrashLoopBackOff",
        message: `back-off ${words} restarting failed container=app pod=web_default(u1)`,
        untilMs: NOW_MS + 4000,
      },
    ]);
  });

  it("that is over holds nothing back", () => {
    const crashBackOff = new Map([["app", { durationMs: 10_000, untilMs: NOW_MS }]]);
    expect(started(planPod(planSnapshot(podOf(), observedPod([exited("app", 0)]), { crashBackOff })))).toEqual(["app"]);
  });

  it("of one container lets the others start", () => {
    const observed = observedPod([exited("a", 1), exited("b", 1)]);
    expect(started(planPod(planSnapshot(two, observed, inBackOff("a", 10_000))))).toEqual(["b"]);
  });

  it("of the first init container in a new sandbox still makes the sandbox", () => {
    const pod = podOf({ initContainers: [container("i")] });
    const plan = planPod(planSnapshot(pod, observedPod([], []), inBackOff("i", 10_000)));
    expect(outline(plan)).toEqual(["run sandbox 0"]);
    expect(plan.waiting).toHaveLength(1);
  });
});

describe("the restart count", () => {
  const count = (observed: Parameters<typeof planSnapshot>[1], more = {}): number =>
    stepOf(planPod(planSnapshot(podOf(), observed, more)), "createContainer", "create:app").restartCount;

  it("goes on from the logs when every dead instance was removed, and never below what was shown", () => {
    expect(count(observedPod([]), { highestLogAttempt: new Map([["app", 11]]) })).toBe(12);
    expect(count(observedPod([]), { shownRestartCount: new Map([["app", 7]]) })).toBe(7);
    expect(
      count(observedPod([exited("app", 1, { restartCount: 12 })]), { highestLogAttempt: new Map([["app", 3]]) }),
    ).toBe(13);
  });
});

describe("a pod that is over", () => {
  it("is only taken down when it is being deleted", () => {
    const pod = podOf({}, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 5 } });
    expect(outline(planPod(planSnapshot(pod, observedPod([instance("app")]))))).toEqual([
      "kill app-0 deleted 5s",
      "stop s1",
    ]);
    expect(outline(planPod(planSnapshot(pod, observedPod([], []))))).toEqual([]);
  });

  it.each(["Succeeded", "Failed"])("runs nothing again in phase %s", (phase) => {
    const pod = podOf({}, { status: { phase } });
    expect(started(planPod(planSnapshot(pod, observedPod([exited("app", 1)]))))).toEqual([]);
    expect(outline(planPod(planSnapshot(pod, observedPod([], []))))).toEqual([]);
  });
});
