import { describe, expect, it } from "vitest";
import { findCondition, type Pod, type PodCondition } from "../api/index.ts";
import {
  container,
  exited,
  instance,
  observedPod,
  podOf,
  probesOf,
  sandbox,
  sidecar,
} from "../runtime/observed-pod.test-support.ts";
import { computePodStatus } from "./pod-status.ts";
import { statusSnapshot } from "./status.test-support.ts";
import type { StatusSnapshot } from "./status-snapshot.ts";

function conditionOf(
  type: string,
  pod: Pod,
  observed: ReturnType<typeof observedPod>,
  more: Partial<StatusSnapshot> = {},
): PodCondition | undefined {
  return findCondition(computePodStatus(statusSnapshot(pod, observed, more)).conditions, type);
}

describe("Initialized", () => {
  const pod = podOf({ initContainers: [sidecar("s")] });

  it("waits for a sidecar to start up, not to be ready", () => {
    const probes = probesOf({ readiness: { "s-0": "failure" } });
    expect(conditionOf("Initialized", pod, observedPod([instance("s")]), { probes })?.status).toBe("True");
    const starting = probesOf({ startup: { "s-0": "unknown" } });
    expect(conditionOf("Initialized", pod, observedPod([instance("s")]), { probes: starting })).toMatchObject({
      status: "False",
      message: "containers with incomplete status: [s]",
    });
  });

  it("stays once a regular container was started, whatever becomes of the sidecar", () => {
    expect(conditionOf("Initialized", pod, observedPod([exited("s", 1), instance("app")]))?.status).toBe("True");
  });
});

describe("PodReadyToStartContainers", () => {
  it.each([
    ["without a sandbox", [], "False"],
    ["with a ready one", [sandbox("s1")], "True"],
    ["with a stopped one", [sandbox("s1", { ready: false })], "False"],
    ["with one that has no address", [sandbox("s1", { ips: [] })], "False"],
  ])("%s", (_name, sandboxes, expected) => {
    expect(conditionOf("PodReadyToStartContainers", podOf(), observedPod([], sandboxes))?.status).toBe(expected);
  });
});

describe("conditions of others", () => {
  it("are kept as they are, before ours", () => {
    const foreign = {
      type: "example.com/x",
      status: "Unknown",
      reason: "Theirs",
      lastTransitionTime: "2025-01-01T00:00:00Z",
    };
    const stale = { type: "Ready", status: "True", reason: "NotTheirs" };
    const pod = podOf({}, { status: { conditions: [stale, foreign] } });
    const { conditions = [] } = computePodStatus(statusSnapshot(pod, observedPod([], [])));
    expect(conditions[0]).toEqual(foreign);
    expect(conditions.filter(({ type }) => type === "Ready")).toHaveLength(1);
    expect(findCondition(conditions, "Ready")?.status).toBe("False");
  });
});

describe("ContainersReady", () => {
  it("names every container that is not ready, in the order of the spec", () => {
    const pod = podOf({ containers: [container("b"), container("a")] });
    expect(conditionOf("ContainersReady", pod, observedPod([]))?.message).toBe("containers with unready status: [b a]");
  });

  it("is False in a pod that failed, though a container still looks ready", () => {
    const kill = { phase: "Failed", reason: "Evicted" } as const;
    expect(conditionOf("ContainersReady", podOf(), observedPod([instance("app")]), { kill })).toMatchObject({
      status: "False",
      reason: "PodFailed",
    });
  });
});
