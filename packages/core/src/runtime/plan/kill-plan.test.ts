import { describe, expect, it } from "vitest";
import type { Pod } from "../../api/index.ts";
import { container, exited, instance, observedPod, podOf, sandbox, sidecar } from "../observed-pod.test-support.ts";
import { planKill } from "./kill-plan.ts";
import { outline, stepOf } from "./plan.test-support.ts";

describe("planKill", () => {
  it("kills all that runs at once, then stops every sandbox", () => {
    const pod = podOf({ containers: [container("a"), container("b")] });
    const observed = observedPod(
      [instance("a", { ageMs: 9000 }), instance("b", { ageMs: 8000 })],
      [sandbox("s2", { attempt: 1 }), sandbox("s1", { ready: false })],
    );
    const plan = planKill({ pod, observed });
    expect(outline(plan)).toEqual(["kill b-0 deleted 30s", "kill a-0 deleted 30s", "stop s2", "stop s1"]);
    expect(stepOf(plan, "killContainer", "kill:a-0")).toMatchObject({
      needs: [],
      after: [],
      stopAfter: [],
      reason: { message: "Stopping container a" },
    });
    expect(stepOf(plan, "stopSandbox", "stopSandbox:s1")).toMatchObject({
      needs: [],
      after: ["kill:b-0", "kill:a-0"],
    });
    expect(plan.killPod).toBe(true);
  });

  it("leaves what ended or never ran, and takes what the runtime lost track of and names it does not know", () => {
    const observed = observedPod([
      exited("app", 1),
      instance("app", { state: "created", restartCount: 1 }),
      instance("lost", { state: "unknown", ageMs: 1000 }),
      instance("stranger"),
    ]);
    expect(outline(planKill({ pod: podOf(), observed }))).toEqual([
      "kill lost-0 deleted 30s",
      "kill stranger-0 deleted 30s",
      "stop s1",
    ]);
  });

  it("lets sidecars stop last, the last one first", () => {
    const pod = podOf({
      initContainers: [sidecar("s1c"), container("i"), sidecar("s2c")],
      containers: [container("a"), container("b")],
    });
    const observed = observedPod(["s1c", "s2c", "a", "b"].map((name) => instance(name)));
    const plan = planKill({ pod, observed });
    expect(new Set(stepOf(plan, "killContainer", "kill:s2c-0").stopAfter)).toEqual(new Set(["kill:a-0", "kill:b-0"]));
    expect(new Set(stepOf(plan, "killContainer", "kill:s1c-0").stopAfter)).toEqual(
      new Set(["kill:a-0", "kill:b-0", "kill:s2c-0"]),
    );
    expect(stepOf(plan, "killContainer", "kill:a-0").stopAfter).toEqual([]);
  });

  it.each<[string, Pod, number | undefined, number]>([
    ["the pod's grace", podOf({ terminationGracePeriodSeconds: 7 }), undefined, 7],
    ["2 s without any", podOf({ terminationGracePeriodSeconds: undefined } as never), undefined, 2],
    ["the deletion's grace before the pod's", podOf({}, { metadata: { deletionGracePeriodSeconds: 3 } }), undefined, 3],
    ["an override before all", podOf({}, { metadata: { deletionGracePeriodSeconds: 3 } }), 1, 1],
    ["zero as zero", podOf({ terminationGracePeriodSeconds: 0 }), undefined, 0],
    [
      "what is beyond an int32 as the largest one",
      podOf({ terminationGracePeriodSeconds: 2n ** 62n }),
      undefined,
      2_147_483_647,
    ],
  ])("gives %s", (_name, pod, graceOverrideSeconds, expected) => {
    const plan = planKill({ pod, observed: observedPod([instance("app")]) }, { graceOverrideSeconds });
    expect(stepOf(plan, "killContainer", "kill:app-0").graceSeconds).toBe(expected);
  });

  it.each([
    ["livenessFailed", 11],
    ["startupFailed", 12],
    ["deleted", 30],
  ] as const)("gives the probe's own grace for %s", (code, expected) => {
    const probes = {
      livenessProbe: { terminationGracePeriodSeconds: 11 },
      startupProbe: { terminationGracePeriodSeconds: 12 },
    };
    const pod = podOf({ containers: [container("app", probes)] });
    const plan = planKill({ pod, observed: observedPod([instance("app")]) }, { reason: { code } });
    expect(stepOf(plan, "killContainer", "kill:app-0").graceSeconds).toBe(expected);
  });

  it("reads an orphan's grace from what its containers carry", () => {
    const pod: Pod = { metadata: { name: "web", namespace: "default", uid: "u1" }, spec: { containers: [] } };
    const annotations = { "io.kubernetes.pod.terminationGracePeriod": "9" };
    const plan = planKill({ pod, observed: observedPod([instance("app", { annotations })]) });
    expect(stepOf(plan, "killContainer", "kill:app-0").graceSeconds).toBe(9);
  });
});
