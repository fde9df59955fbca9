import { describe, expect, it } from "vitest";
import {
  container,
  exited,
  instance,
  observedPod,
  planSnapshot,
  podOf,
  probesOf,
  sandbox,
  sidecar,
} from "../observed-pod.test-support.ts";
import type { ObservedContainer } from "../observed-pod.ts";
import { ancestors, killed, outline, started, stepOf } from "./plan.test-support.ts";
import { planPod } from "./plan.ts";

describe("init containers", () => {
  const pod = podOf({ initContainers: [container("i1"), container("i2")] });
  const of = (...containers: ObservedContainer[]): readonly string[] =>
    started(planPod(planSnapshot(pod, observedPod(containers))));

  it("follow one another, then the regular ones", () => {
    expect(of()).toEqual(["i1"]);
    expect(of(instance("i1"))).toEqual([]);
    expect(of(exited("i1", 0))).toEqual(["i2"]);
    expect(of(exited("i1", 0), instance("i2"))).toEqual([]);
    expect(of(exited("i1", 0), exited("i2", 0))).toEqual(["app"]);
  });

  it("run again after a failure, and after they were only created", () => {
    expect(of(exited("i1", 1))).toEqual(["i1"]);
    expect(of(exited("i1", 0), instance("i2", { state: "created" }))).toEqual(["i2"]);
  });

  it("that ran out of memory failed, whatever the exit code", () => {
    expect(of(exited("i1", 0), exited("i2", 0, { reason: "OOMKilled" }))).toEqual(["i2"]);
  });

  it("fail the pod for good under Never", () => {
    const never = podOf({ restartPolicy: "Never", initContainers: [container("i1")] });
    const plan = planPod(planSnapshot(never, observedPod([exited("i1", 1)])));
    expect(plan.killPod).toBe(true);
    expect(started(plan)).toEqual([]);
  });

  it("in an unknown state are killed and run again, or fail the pod under Never", () => {
    const plan = planPod(planSnapshot(pod, observedPod([instance("i1", { state: "unknown" })])));
    expect(outline(plan)).toEqual(["kill i1-0 unknownState 30s", "image i1", "create i1 1", "start i1"]);
    const never = podOf({ restartPolicy: "Never", initContainers: [container("i1")] });
    expect(planPod(planSnapshot(never, observedPod([instance("i1", { state: "unknown" })]))).killPod).toBe(true);
  });

  it("that finished and are gone from the runtime do not run again", () => {
    expect(of(instance("app"))).toEqual([]);
    expect(of(exited("app", 1))).toEqual(["app"]);
    expect(of(exited("i2", 0))).toEqual(["app"]);
  });

  it("that the runtime lost track of are left alone once a regular container is there", () => {
    expect(of(instance("i1", { state: "unknown" }), instance("i2", { state: "created" }), instance("app"))).toEqual([]);
  });

  it("run in a new sandbox though the old one still lists a created regular container", () => {
    const observed = observedPod(
      [
        exited("i1", 0, { sandboxId: "s0", ageMs: 90_000 }),
        exited("i2", 0, { sandboxId: "s0", ageMs: 80_000 }),
        instance("app", { sandboxId: "s0", state: "created", ageMs: 70_000 }),
      ],
      [sandbox("s1", { attempt: 1 }), sandbox("s0", { ready: false })],
    );
    expect(started(planPod(planSnapshot(pod, observed)))).toEqual(["i1"]);
    const next = observedPod(
      [exited("i1", 0, { ageMs: 10_000, restartCount: 1 }), ...observed.containers],
      observed.sandboxes,
    );
    expect(started(planPod(planSnapshot(pod, next)))).toEqual(["i2"]);
  });

  it("keep only their newest dead instance", () => {
    const crashed = [0, 1, 2].map((restartCount) =>
      exited("i1", 1, { restartCount, ageMs: 90_000 - restartCount * 10_000 }),
    );
    expect(outline(planPod(planSnapshot(pod, observedPod(crashed))))).toEqual([
      "remove i1-1",
      "remove i1-0",
      "image i1",
      "create i1 3",
      "start i1",
    ]);
  });
});

describe("sidecars", () => {
  const pod = podOf({ initContainers: [sidecar("s1c"), container("i"), sidecar("s2c")] });
  const plan = (containers: Parameters<typeof observedPod>[0], more = {}): ReturnType<typeof planPod> =>
    planPod(planSnapshot(pod, observedPod(containers), more));

  it("let the next one go once they run", () => {
    expect(started(plan([]))).toEqual(["s1c"]);
    expect(started(plan([instance("s1c")]))).toEqual(["i"]);
    expect(started(plan([instance("s1c"), exited("i", 0)]))).toEqual(["s2c"]);
    expect(started(plan([instance("s1c"), exited("i", 0), instance("s2c")]))).toEqual(["app"]);
  });

  it.each([
    ["unknown", []],
    ["success", ["i"]],
    ["failure", ["s1c"]],
  ] as const)("with a startup probe that says %s start %j", (startup, expected) => {
    const result = plan([instance("s1c")], { probes: probesOf({ startup: { "s1c-0": startup } }) });
    expect(started(result)).toEqual(expected);
    expect(killed(result)).toEqual(startup === "failure" ? ["s1c-0"] : []);
  });

  it("are always restarted, in the order of the spec and before the regular ones", () => {
    const result = plan([exited("s1c", 0), exited("i", 0), exited("s2c", 1), instance("app")]);
    expect(started(result)).toEqual(["s1c", "s2c"]);
    const all = plan([exited("s1c", 0), exited("i", 0), instance("s2c"), exited("app", 1)]);
    expect(started(all)).toEqual(["s1c", "app"]);
    expect(stepOf(all, "createContainer", "create:app").after).toEqual(["start:s1c"]);
  });

  it("that vanished after the pod was initialised are started again, plain ones are not", () => {
    expect(started(plan([instance("app")]))).toEqual(["s1c", "s2c"]);
  });

  it("hold the regular ones back until the last of them runs again", () => {
    expect(started(plan([instance("s1c"), exited("i", 0), exited("s2c", 1), exited("app", 1)]))).toEqual(["s2c"]);
  });

  it("do not keep regular ones that live from being judged", () => {
    const probes = probesOf({ liveness: { "app-0": "failure" } });
    const sick = plan([instance("s1c"), exited("i", 0), exited("s2c", 1), instance("app")], { probes });
    expect(started(sick)).toEqual(["s2c", "app"]);
  });

  it("that have not started up yet are not judged by anything else", () => {
    const old = plan([instance("s1c", { hash: "1" })], { probes: probesOf({ startup: { "s1c-0": "unknown" } }) });
    expect(outline(old)).toEqual([]);
  });

  it("are replaced when their definition changed or their liveness probe failed", () => {
    const old = plan([instance("s1c", { hash: "1" }), exited("i", 0), instance("s2c"), instance("app")]);
    expect(stepOf(old, "killContainer", "kill:s1c-0").reason.message).toBe("Init container s1c definition changed");
    expect(started(old)).toEqual(["s1c"]);
    const sick = plan([instance("s1c"), exited("i", 0), instance("s2c"), instance("app")], {
      probes: probesOf({ liveness: { "s2c-0": "failure" } }),
    });
    expect(stepOf(sick, "killContainer", "kill:s2c-0").reason.message).toBe("Init container s2c failed liveness probe");
    expect(started(sick)).toEqual(["s2c"]);
  });
});

describe("ephemeral containers", () => {
  const debug = { name: "debug", image: "example.com/debug:1" };

  it("start once, beside everything else, also before the pod is initialised", () => {
    const pod = podOf({ initContainers: [container("i")], ephemeralContainers: [debug] });
    const plan = planPod(planSnapshot(pod, observedPod([instance("i")])));
    expect(started(plan)).toEqual(["debug"]);
    expect(started(planPod(planSnapshot(pod, observedPod([instance("i"), exited("debug", 1)]))))).toEqual([]);
  });

  it("delay no other container", () => {
    const pod = podOf({ ephemeralContainers: [debug] });
    const plan = planPod(planSnapshot(pod, observedPod([exited("app", 1)])));
    expect(started(plan)).toEqual(["debug", "app"]);
    expect(ancestors(plan, "start:app")).not.toContain("start:debug");
  });
});
