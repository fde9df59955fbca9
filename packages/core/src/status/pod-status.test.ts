import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ContainerStatus, findCondition, type Pod, type PodStatus } from "../api/index.ts";
import {
  container,
  exited,
  instance,
  NOW_MS,
  observedPod,
  podOf,
  sandbox,
  sidecar,
} from "../runtime/observed-pod.test-support.ts";
import { computePodStatus, rejectedStatus } from "./pod-status.ts";
import { RUNNING, statusOf, statusSnapshot, WAITING } from "./status.test-support.ts";
import type { StatusSnapshot } from "./status-snapshot.ts";

type Containers = Parameters<typeof observedPod>[0];

function compute(pod: Pod, containers: Containers, more: Partial<StatusSnapshot> = {}): PodStatus {
  return computePodStatus(statusSnapshot(pod, observedPod(containers), more));
}

function app(pod: Pod, containers: Containers, more: Partial<StatusSnapshot> = {}): ContainerStatus {
  return compute(pod, containers, more).containerStatuses?.find(({ name }) => name === "app") as ContainerStatus;
}

const shown = (status: Partial<PodStatus>): Partial<StatusSnapshot> => ({ previous: status });
const wasRunning = shown({
  phase: "Running",
  containerStatuses: [statusOf("app", RUNNING, { ready: true, started: true, containerID: "containerd://app-0" })],
});

describe("a terminal phase", () => {
  it("is never left, and keeps its reason and message", () => {
    const previous = { phase: "Failed", reason: "Evicted", message: "no room" };
    const status = compute(podOf(), [instance("app")], { previous });
    expect(status).toMatchObject(previous);
  });

  it("of the API wins over everything", () => {
    const pod = podOf({ restartPolicy: "Never" }, { status: { phase: "Succeeded" } });
    expect(compute(pod, [exited("app", 1)], { previous: { phase: "Running" } }).phase).toBe("Succeeded");
  });

  it("stays Failed when the runtime dropped the container, with 137 and not 0", () => {
    const pod = podOf({ restartPolicy: "Never" }, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } });
    const first = compute(pod, [exited("app", 1)]);
    expect(first.phase).toBe("Failed");
    const later = compute(pod, [], { previous: first, isTerminal: true });
    expect(later.phase).toBe("Failed");
    expect(later.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(1);
    const unknown = compute(pod, [], { ...wasRunning, isTerminal: true });
    expect(unknown.phase).toBe("Failed");
    expect(unknown.containerStatuses?.[0]?.lastState?.terminated?.exitCode).toBe(137);
  });

  it("never leaves itself over any series of looks", () => {
    const look = fc.record({
      containers: fc.array(
        fc.record({
          state: fc.constantFrom("created", "running", "exited", "unknown"),
          exitCode: fc.constantFrom(0, 1),
        }),
        { maxLength: 2 },
      ),
      ready: fc.boolean(),
      isTerminal: fc.boolean(),
      evict: fc.boolean(),
    });
    const policy = fc.constantFrom("Always", "OnFailure", "Never");
    fc.assert(
      fc.property(policy, fc.array(look, { minLength: 2, maxLength: 8 }), (restartPolicy, looks) => {
        const pod = podOf({ restartPolicy });
        let previous: PodStatus | undefined;
        for (const { containers, ready, isTerminal, evict } of looks) {
          const made = containers.map((each, at) => instance("app", { ...each, restartCount: at, ageMs: 9000 - at }));
          const kill = evict ? { phase: "Failed" as const, reason: "Evicted" } : undefined;
          const observed = observedPod(made, [sandbox("s1", { ready })]);
          const status = computePodStatus(statusSnapshot(pod, observed, { previous, isTerminal, kill }));
          const wasOver = previous?.phase === "Failed" || previous?.phase === "Succeeded";
          const held = wasOver ? previous : status;
          expect([status.phase, status.reason]).toEqual([held?.phase, held?.reason]);
          previous = status;
        }
      }),
    );
  });
});

describe("a kill", () => {
  const kill = {
    phase: "Failed",
    reason: "Evicted",
    message: "The node was low on resource: memory. ",
    conditions: [{ type: "DisruptionTarget", status: "True", reason: "TerminationByKubelet" }],
  } as const;

  it("lays its phase, reason, message and condition over the status, which keeps them", () => {
    const during = compute(podOf(), [instance("app")], { kill });
    expect(during).toMatchObject({ phase: "Failed", reason: "Evicted", message: kill.message });
    expect(findCondition(during.conditions, "DisruptionTarget")).toMatchObject({ status: "True", lastProbeTime: null });
    const after = compute(podOf(), [exited("app", 137)], { previous: during, isTerminal: true });
    expect(after).toMatchObject({ phase: "Failed", reason: "Evicted", message: kill.message });
    expect(findCondition(after.conditions, "DisruptionTarget")?.reason).toBe("TerminationByKubelet");
  });

  it("leaves a pod that succeeded meanwhile succeeded", () => {
    const status = compute(podOf({ restartPolicy: "Never" }), [exited("app", 0)], { kill });
    expect(status.phase).toBe("Succeeded");
    expect(status.reason).toBeUndefined();
  });
});

describe("reason and message", () => {
  it("stay while the phase does and go with it", () => {
    const previous = { phase: "Running", reason: "Something", message: "about it" };
    expect(compute(podOf(), [instance("app")], { previous })).toMatchObject(previous);
    const pending = compute(podOf(), [], { previous });
    expect(pending.phase).toBe("Pending");
    expect(pending).not.toHaveProperty("reason");
  });
});

describe("observedGeneration", () => {
  const at = (generation: number | undefined, previous?: PodStatus): PodStatus["observedGeneration"] => {
    const pod = podOf();
    const metadata = { ...pod.metadata, ...(generation === undefined ? {} : { generation }) };
    if (generation === undefined) delete metadata.generation;
    return compute({ ...pod, metadata }, [], { previous }).observedGeneration;
  };

  it("is the generation that the status was computed from, and never goes back", () => {
    expect(at(1)).toBe(1);
    expect(at(2, { observedGeneration: 1 })).toBe(2);
    expect(at(2, { observedGeneration: 3 })).toBe(3);
    expect(at(undefined)).toBeUndefined();
  });

  it("stands in every condition of ours; resize conditions keep the one that they were set with", () => {
    const pod = podOf({}, { metadata: { generation: 3 } });
    const previous = {
      conditions: [
        { type: "PodResizeInProgress", status: "True", observedGeneration: 2 },
        { type: "PodResizePending", status: "True", observedGeneration: 3 },
      ],
    };
    const { conditions } = compute(pod, [instance("app")], { previous });
    expect(conditions?.map(({ type, observedGeneration }) => [type, observedGeneration])).toEqual([
      ["PodResizePending", 3],
      ["PodResizeInProgress", 2],
      ["PodReadyToStartContainers", 3],
      ["Initialized", 3],
      ["Ready", 3],
      ["ContainersReady", 3],
      ["PodScheduled", 3],
    ]);
  });
});

describe("startTime", () => {
  it("is the time of the first status and stays", () => {
    const first = compute(podOf(), []);
    expect(first.startTime).toBe("2026-01-01T00:00:00Z");
    expect(compute(podOf(), [], { previous: first, nowMs: NOW_MS + 60_000 }).startTime).toBe("2026-01-01T00:00:00Z");
  });
});

describe("addresses", () => {
  const ips = (pod: Pod, sandboxIps: readonly string[] | undefined, more: Partial<StatusSnapshot> = {}): unknown => {
    const observed = observedPod([], [sandbox("s1", { ips: sandboxIps })]);
    const { hostIP, hostIPs, podIP, podIPs } = computePodStatus(statusSnapshot(pod, observed, more));
    return { host: [hostIP, hostIPs?.map(({ ip }) => ip)], pod: [podIP, podIPs?.map(({ ip }) => ip)] };
  };
  const hostNet = podOf({ hostNetwork: true });

  it("come from the sandbox, the node's primary family first, one of each family", () => {
    expect(ips(podOf(), ["fd00::5", "10.88.0.5", "10.88.0.6"])).toMatchObject({
      pod: ["10.88.0.5", ["10.88.0.5", "fd00::5"]],
    });
    const nodeIps = ["2001:db8::1"];
    expect(ips(podOf(), ["10.88.0.5", "fd00::5"], { nodeIps })).toMatchObject({
      pod: ["fd00::5", ["fd00::5", "10.88.0.5"]],
    });
  });

  it("pass over texts that are no addresses", () => {
    const nodeIps = ["node-1.example.com", "<nil>", "", "192.0.2.10"];
    expect(ips(podOf(), ["<nil>", "10.88.0.5"], { nodeIps })).toEqual({
      host: ["192.0.2.10", ["192.0.2.10"]],
      pod: ["10.88.0.5", ["10.88.0.5"]],
    });
    expect(ips(podOf(), undefined, { nodeIps: ["<nil>"] })).toEqual({
      host: [undefined, undefined],
      pod: [undefined, undefined],
    });
  });

  it("of a pod on the host network are the host's, and stay when the host's change", () => {
    const first = computePodStatus(statusSnapshot(hostNet, observedPod([], [])));
    expect(first.podIP).toBe("192.0.2.10");
    expect(ips(hostNet, [], { previous: first, nodeIps: ["192.0.2.99"] })).toEqual({
      host: ["192.0.2.99", ["192.0.2.99"]],
      pod: ["192.0.2.10", ["192.0.2.10"]],
    });
  });

  it("of a pod on the host network gain a second family", () => {
    const previous = { podIP: "192.0.2.10", podIPs: [{ ip: "192.0.2.10" }] };
    expect(ips(hostNet, [], { previous, nodeIps: ["192.0.2.10", "2001:db8::1"] })).toMatchObject({
      pod: ["192.0.2.10", ["192.0.2.10", "2001:db8::1"]],
    });
  });

  it("stay when the sandbox stopped", () => {
    const previous = { podIP: "10.88.0.5", podIPs: [{ ip: "10.88.0.5" }] };
    const stopped = observedPod([], [sandbox("s1", { ready: false, ips: [] })]);
    expect(computePodStatus(statusSnapshot(podOf(), stopped, { previous })).podIP).toBe("10.88.0.5");
  });
});

describe("conditions", () => {
  const condition = (type: string, pod: Pod, containers: Containers, more: Partial<StatusSnapshot> = {}): unknown => {
    const {
      lastTransitionTime: _at,
      lastProbeTime: _probe,
      observedGeneration: _generation,
      ...rest
    } = findCondition(compute(pod, containers, more).conditions, type) ?? { type: "none", status: "" };
    return rest;
  };
  const three = podOf({ initContainers: [container("i1"), container("i2"), sidecar("s")] });

  it("Initialized names what is not done", () => {
    expect(condition("Initialized", three, [exited("i1", 0)])).toEqual({
      type: "Initialized",
      status: "False",
      reason: "ContainersNotInitialized",
      message: "containers with incomplete status: [i2 s]",
    });
    expect(condition("Initialized", three, [exited("i1", 0), exited("i2", 0), instance("s")])).toEqual({
      type: "Initialized",
      status: "True",
    });
  });

  it("ContainersReady waits for sidecars and regular containers, not for init containers", () => {
    expect(condition("ContainersReady", three, [exited("i1", 0)])).toMatchObject({
      message: "containers with unready status: [s app]",
    });
  });

  it("Ready waits for readiness gates", () => {
    const gates = [{ conditionType: "example.com/a" }, { conditionType: "example.com/b" }];
    const foreign = { type: "example.com/b", status: "False" };
    const pod = podOf({ readinessGates: gates }, { status: { conditions: [foreign] } });
    expect(condition("Ready", pod, [instance("app")])).toEqual({
      type: "Ready",
      status: "False",
      reason: "ReadinessGatesNotReady",
      message:
        'corresponding condition of pod readiness gate "example.com/a" does not exist., the status of pod readiness gate "example.com/b" is not "True", but False',
    });
    expect(condition("example.com/b", pod, [instance("app")])).toEqual(foreign);
  });

  it("change their transition time only with their status", () => {
    const first = compute(podOf(), [], { nowMs: NOW_MS });
    const later = compute(podOf(), [instance("app")], { previous: first, nowMs: NOW_MS + 5000 });
    const at = (status: PodStatus, type: string): unknown => findCondition(status.conditions, type)?.lastTransitionTime;
    expect(at(later, "PodScheduled")).toBe("2026-01-01T00:00:00Z");
    expect(at(later, "Ready")).toBe("2026-01-01T00:00:05Z");
  });
});

describe("termination messages", () => {
  it("share 12 KiB among all containers, cut between characters", () => {
    const pod = podOf({
      containers: [container("app"), container("b")],
      initContainers: [container("i")],
      ephemeralContainers: [{ name: "d", image: "x" }],
    });
    const message =
      app(pod, [exited("app", 1, { terminationMessage: "ä".repeat(4096) })]).state?.terminated?.message ?? "";
    expect(new TextEncoder().encode(message).length).toBe(3072);
    const odd =
      app(pod, [exited("app", 1, { terminationMessage: `x${"ä".repeat(4096)}` })]).state?.terminated?.message ?? "";
    expect(new TextEncoder().encode(odd).length).toBe(3071);
    expect(odd.endsWith("ä")).toBe(true);
  });
});

describe("rejectedStatus", () => {
  it("says why, and nothing about containers", () => {
    expect(rejectedStatus({ pod: podOf(), reason: "OutOfcpu", message: "no room", nowMs: NOW_MS })).toEqual({
      observedGeneration: 1,
      phase: "Failed",
      reason: "OutOfcpu",
      message: "Pod was rejected: no room",
      startTime: "2026-01-01T00:00:00Z",
      qosClass: "BestEffort",
    });
  });
});

describe("a pod whose last state is waiting", () => {
  it("is Pending until its first start", () => {
    expect(compute(podOf(), [], shown({ containerStatuses: [statusOf("app", WAITING)] })).phase).toBe("Pending");
  });
});
