import { describe, expect, it } from "vitest";
import { type ContainerStatus, findCondition, type Pod, type PodStatus } from "../api/index.ts";
import { container, exited, instance, observedPod, podOf, probesOf } from "../runtime/observed-pod.test-support.ts";
import { computePodStatus } from "./pod-status.ts";
import { ended, RUNNING, statusOf, statusSnapshot } from "./status.test-support.ts";
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

describe("a container's status", () => {
  it("shows the newest instance, and the one before it as the last state", () => {
    const containers = [0, 1, 2].map((restartCount) =>
      exited("app", restartCount, { restartCount, ageMs: 9000 - restartCount * 1000 }),
    );
    const status = app(podOf(), containers);
    expect(status).toMatchObject({
      state: { terminated: { exitCode: 2, containerID: "containerd://app-2" } },
      lastState: { terminated: { exitCode: 1, containerID: "containerd://app-1" } },
      restartCount: 2,
      containerID: "containerd://app-2",
    });
  });

  it("waits without a reason while its container is only created", () => {
    expect(app(podOf(), [instance("app", { state: "created" })]).state).toEqual({ waiting: {} });
  });

  it.each([
    [podOf(), "ContainerCreating"],
    [podOf({ initContainers: [container("i")] }), "PodInitializing"],
  ])("says what it waits for before anything was made", (pod, reason) => {
    expect(app(pod, []).state).toEqual({ waiting: { reason } });
  });

  it("joins the runtime's message and the termination message", () => {
    const message = (more: object): string | undefined =>
      app(podOf(), [exited("app", 1, more)]).state?.terminated?.message;
    expect(message({ message: "oops", terminationMessage: "bye" })).toBe("oops: bye");
    expect(message({ terminationMessage: "bye" })).toBe("bye");
    expect(message({})).toBeUndefined();
  });

  it("shows a start error instead of an end, which becomes the last state", () => {
    const startErrors = new Map([["app", { reason: "CrashLoopBackOff", message: "back-off 10s" }]]);
    const status = app(podOf(), [exited("app", 1)], { startErrors });
    expect(status.state).toEqual({ waiting: { reason: "CrashLoopBackOff", message: "back-off 10s" } });
    expect(status.lastState?.terminated?.exitCode).toBe(1);
  });

  it.each([
    ["that runs", podOf(), instance("app")],
    ["that ended for good", podOf({ restartPolicy: "Never" }), exited("app", 1)],
    [
      "of a pod that is being deleted",
      podOf({}, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }),
      exited("app", 1),
    ],
  ])("shows no start error of a container %s", (_name, pod, only) => {
    const startErrors = new Map([["app", { reason: "CrashLoopBackOff", message: "" }]]);
    expect(app(pod, [only], { startErrors }).state?.waiting).toBeUndefined();
  });

  it("shows no start error of an init container that is done", () => {
    const pod = podOf({ initContainers: [container("i")] });
    const startErrors = new Map([["i", { reason: "ErrImagePull", message: "" }]]);
    const [init] = compute(pod, [exited("i", 0)], { startErrors }).initContainerStatuses ?? [];
    expect(init?.state?.terminated?.exitCode).toBe(0);
    expect(init?.ready).toBe(true);
  });

  it("keeps the order of the spec for init containers and sorts the others by name", () => {
    const pod = podOf({
      initContainers: [container("z"), container("a")],
      containers: [container("y"), container("b")],
    });
    const status = compute(pod, []);
    expect(status.initContainerStatuses?.map(({ name }) => name)).toEqual(["z", "a"]);
    expect(status.containerStatuses?.map(({ name }) => name)).toEqual(["b", "y"]);
  });
});

describe("a container that vanished from the runtime", () => {
  it("ended with 137 in a way that nobody knows, and counts as restarted while the pod lives", () => {
    expect(app(podOf(), [], wasRunning)).toMatchObject({
      state: { waiting: { reason: "ContainerCreating" } },
      lastState: { terminated: { exitCode: 137, reason: "ContainerStatusUnknown" } },
      restartCount: 1,
    });
  });

  it("does not count as restarted in a pod that is being deleted", () => {
    const pod = podOf({}, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } });
    expect(app(pod, [], wasRunning)).toMatchObject({
      lastState: { terminated: { exitCode: 137, reason: "ContainerStatusUnknown" } },
      restartCount: 0,
    });
  });

  it("keeps an end that is known, exit code 0 too", () => {
    const previous = shown({
      containerStatuses: [statusOf("app", ended(0, { reason: "Completed" }), { restartCount: 4 })],
    });
    expect(app(podOf(), [], previous)).toMatchObject({
      state: { terminated: { exitCode: 0, reason: "Completed" } },
      restartCount: 4,
    });
  });

  it("keeps an end for good even if its last start had failed", () => {
    const end = ended(128, { reason: "StartError" });
    const startErrors = new Map([["app", { reason: "RunContainerError", message: "no such file" }]]);
    const more = { ...shown({ containerStatuses: [statusOf("app", end)] }), startErrors };
    const { state } = app(podOf({ restartPolicy: "Never" }), [], more);
    expect(state).toMatchObject({ terminated: { exitCode: 128, reason: "StartError" } });
  });

  it("that the runtime lists in an unknown state ended when it was shown running", () => {
    const status = app(podOf(), [instance("app", { state: "unknown" })], wasRunning);
    expect(status).toMatchObject({
      state: { terminated: { exitCode: 137, reason: "ContainerStatusUnknown" } },
      restartCount: 1,
    });
    expect(app(podOf(), [instance("app", { state: "unknown" })]).state).toEqual({ waiting: {} });
  });

  it("is said to be done when it is an init container of an initialised pod, and Initialized stays", () => {
    const pod = podOf({ initContainers: [container("i")] });
    const status = compute(pod, [instance("app")]);
    expect(status.initContainerStatuses?.[0]).toMatchObject({
      state: { terminated: { exitCode: 0, reason: "Completed" } },
      ready: true,
    });
    expect(findCondition(status.conditions, "Initialized")?.status).toBe("True");
    expect(status.phase).toBe("Running");
  });
});

describe("the restart count", () => {
  it("never goes down, whatever was removed", () => {
    const previous = shown({ containerStatuses: [statusOf("app", RUNNING, { restartCount: 12 })] });
    expect(app(podOf(), [instance("app", { restartCount: 11 })], previous).restartCount).toBe(12);
    expect(app(podOf(), [instance("app", { restartCount: 13 })], previous).restartCount).toBe(13);
  });
});

describe("ready and started", () => {
  const of = (probes: Parameters<typeof probesOf>[0], previous?: Partial<PodStatus>): readonly unknown[] => {
    const more = { probes: probesOf(probes), ...(previous && { previous }) };
    const { started, ready } = app(podOf(), [instance("app")], more);
    return [started, ready];
  };
  const before = {
    containerStatuses: [statusOf("app", RUNNING, { containerID: "containerd://app-0", ready: true, started: true })],
  };
  const another = {
    containerStatuses: [statusOf("app", RUNNING, { containerID: "containerd://app-9", ready: true, started: true })],
  };

  it.each<[string, Parameters<typeof probesOf>[0], Partial<PodStatus> | undefined, readonly [boolean, boolean]]>([
    ["without probes", {}, undefined, [true, true]],
    ["readiness failed", { readiness: { "app-0": "failure" } }, undefined, [true, false]],
    ["readiness succeeded", { readiness: { "app-0": "success" } }, undefined, [true, true]],
    ["startup not known", { startup: { "app-0": "unknown" } }, undefined, [false, false]],
    ["startup failed", { startup: { "app-0": "failure" } }, undefined, [false, false]],
    ["startup succeeded", { startup: { "app-0": "success" } }, undefined, [true, true]],
    [
      "after a restart of the agent",
      { startup: { "app-0": "unknown" }, readiness: { "app-0": "unknown" } },
      before,
      [true, true],
    ],
    ["a new instance is not taken for the old", { readiness: { "app-0": "unknown" } }, another, [true, false]],
  ])("%s", (_name, probes, previous, expected) => {
    expect(of(probes, previous)).toEqual(expected);
  });

  it("says neither of an ephemeral container", () => {
    const pod = podOf({ ephemeralContainers: [{ name: "debug", image: "x" }] });
    const [debug] = compute(pod, [instance("debug")]).ephemeralContainerStatuses ?? [];
    expect(debug).toMatchObject({ name: "debug", ready: false });
    expect(debug).not.toHaveProperty("started");
  });
});

describe("resources", () => {
  const resources = { limits: { cpu: "200m", memory: "64Mi" }, requests: { cpu: "100m", memory: "32Mi" } };
  const pod = podOf({ containers: [container("app", { resources })] });
  const actual = { cpuQuota: 30_000n, cpuPeriod: 100_000n, cpuShares: 128n, memoryLimitInBytes: 100n * 1024n * 1024n };

  it("are what the runtime reports while the container runs, except for the memory request", () => {
    const status = app(pod, [instance("app", { resources: actual })]);
    expect(status.resources).toEqual({
      limits: { cpu: "300m", memory: "100Mi" },
      requests: { cpu: "125m", memory: "32Mi" },
    });
    expect(status.allocatedResources).toEqual(resources.requests);
  });

  it("are the allocated ones once it ended", () => {
    expect(app(pod, [exited("app", 1, { resources: actual })]).resources).toEqual(resources);
  });

  it("keep values too small for the kernel to tell apart", () => {
    const tiny = podOf({
      containers: [container("app", { resources: { limits: { cpu: "5m" }, requests: { cpu: "1m" } } })],
    });
    const least = { cpuQuota: 1000n, cpuPeriod: 100_000n, cpuShares: 2n };
    expect(app(tiny, [instance("app", { resources: least })]).resources).toEqual({
      limits: { cpu: "5m" },
      requests: { cpu: "1m" },
    });
  });
});
