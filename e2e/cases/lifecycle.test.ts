import { NodeletError, type Pod } from "@nodelet/core";
import type { SimulatedNode } from "@nodelet/testkit";
import { describe, expect, it } from "vitest";
import {
  callNames,
  eventsOf,
  IMAGE,
  MINUTE,
  newNode,
  podOf,
  SECOND,
  shell,
  statusOf,
  untilPhase,
  watchStatuses,
} from "./cases.test-support.ts";

describe("K25 the sandbox cannot be made since the pod is gone", () => {
  it.each([
    ["half made", true],
    ["not made", false],
  ])("%s: no event, no second try, nothing is left", async (_, made) => {
    const answer = Promise.withResolvers<void>();
    const node = newNode({
      decorate: (ports) => ({
        ...ports,
        runtime: {
          ...ports.runtime,
          runSandbox: async ({ signal: _signal, ...request }) => {
            if (made) node.runtime.endSandbox(await ports.runtime.runSandbox(request));
            await answer.promise;
            throw new NodeletError("internal", 'plugin type="cni" failed (add): pods "web" not found');
          },
        },
      }),
    });
    node.pods.apply(podOf("web"));
    await node.clock.advance(500);
    node.pods.delete({ name: "web" });
    answer.resolve();
    await node.clock.runUntil(() => node.agent.pods().length === 0, { limitMs: MINUTE });
    await node.clock.advance(2 * MINUTE);
    expect(eventsOf(node, "web").filter((line) => line.startsWith("FailedCreatePodSandBox"))).toEqual([]);
    expect(callNames(node).filter((call) => call === "runSandbox")).toHaveLength(made ? 1 : 0);
    expect(node.runtime.sandboxes()).toEqual([]);
    expect([node.runtime.ipsTaken, node.pods.list()]).toEqual([0, []]);
  });
});

describe("K26 a second deletion with a shorter grace", () => {
  it("kills near 10 s in all with a second stop call, and a third, longer one changes nothing", async () => {
    const node = newNode();
    const containers = [{ name: "c", image: IMAGE, command: ["sleep", "infinity"] }];
    node.pods.apply(podOf("web", { containers }));
    await untilPhase(node, "web", "Running");
    const beganMs = node.clock.monotonicMs();
    node.pods.delete({ name: "web", graceSeconds: 120 });
    await node.clock.advance(5 * SECOND);
    node.pods.delete({ name: "web", graceSeconds: 5 });
    await node.clock.advance(SECOND);
    node.pods.delete({ name: "web", graceSeconds: 60 });
    await node.clock.runUntil(() => node.runtime.running().length === 0, { limitMs: MINUTE });
    const tookMs = node.clock.monotonicMs() - beganMs;
    expect(tookMs).toBeGreaterThanOrEqual(10 * SECOND);
    expect(tookMs).toBeLessThanOrEqual(12 * SECOND);
    const stops = node.runtime.calls.filter(({ call }) => call === "stopContainer");
    expect(stops.map(({ request }) => request["timeoutSeconds"])).toEqual([120, 5]);
    await node.clock.runUntil(() => node.agent.pods().length === 0, { limitMs: 10 * SECOND });
  });
});

function podWithInit(init: readonly string[]): Pod {
  return podOf("web", { initContainers: init.map((name) => ({ name, image: IMAGE, command: ["true"] })) });
}

function conditionOf(node: SimulatedNode, type: string): string | undefined {
  return statusOf(node, "web").conditions?.find((condition) => condition.type === type)?.status;
}

describe("K28 a finished init container is removed from the runtime", () => {
  it.each([
    ["while the agent runs", false],
    ["while the agent is down", true],
  ])("%s: it is not run again, and Initialized stays True", async (_, down) => {
    const node = newNode();
    node.pods.apply(podWithInit(["init"]));
    await untilPhase(node, "web", "Running");
    await node.clock.advance(SECOND);
    if (down) node.kill();
    node.runtime.clearCalls();
    const init = node.runtime.containers().find(({ metadata }) => metadata.name === "init");
    node.runtime.removeBehind({ id: init?.id ?? "" });
    if (down) node.start();
    const statuses = watchStatuses(node, "web");
    await node.clock.advance(3 * MINUTE);
    expect(callNames(node)).toEqual([]);
    expect(conditionOf(node, "Initialized")).toBe("True");
    for (const { conditions } of statuses)
      expect(conditions?.find(({ type }) => type === "Initialized")?.status).toBe("True");
    expect(statusOf(node, "web").initContainerStatuses?.[0]?.state?.terminated?.exitCode).toBe(0);
  });
});

describe("K29 a reboot with a main container that was only created", () => {
  it("runs both init containers in order in the new sandbox, then the main one", async () => {
    const node = newNode();
    // The daemon dies under the start of the main container, so that it stays CREATED.
    const hang = node.runtime.hang({ calls: ["startContainer"], takesEffect: false });
    const starting = (): string | undefined =>
      node.runtime.containers().find(({ state }) => state === "CONTAINER_CREATED")?.metadata.name;
    node.pods.apply(podWithInit(["i1", "i2"]));
    hang.release();
    await node.clock.runUntil(() => starting() === "c", { limitMs: MINUTE, what: "c is created" });
    node.kill();
    node.runtime.reboot();
    expect(node.runtime.containers().filter(({ state }) => state === "CONTAINER_CREATED")).toHaveLength(1);
    expect(node.runtime.sandboxes().map(({ state }) => state)).toEqual(["SANDBOX_NOTREADY"]);
    const order: string[] = [];
    node.runtime.onChange((change) => {
      if (change.kind === "container" && change.to === "CONTAINER_RUNNING") order.push(change.containerName);
    });
    node.start();
    await untilPhase(node, "web", "Running");
    expect(order).toEqual(["i1", "i2", "c"]);
    expect(node.invariants.violations).toEqual([]);
  });
});

/** Seconds between each end of the container and its next start. */
async function restartPauses(node: SimulatedNode, durationMs: number): Promise<readonly number[]> {
  const pauses: number[] = [];
  let endedMs: number | undefined;
  node.runtime.onChange((change) => {
    if (change.kind !== "container") return;
    if (change.to === "CONTAINER_EXITED") endedMs = change.atMs;
    if (change.to === "CONTAINER_RUNNING" && endedMs !== undefined)
      pauses.push(Math.round((change.atMs - endedMs) / SECOND));
  });
  await node.clock.advance(durationMs);
  return pauses;
}

describe("K31 the schedule of CrashLoopBackOff", () => {
  it("restarts at once, then after 10, 20, 40, 80, 160 and 300 s, and shows its reason meanwhile", async () => {
    const node = newNode();
    node.pods.apply(podOf("web", { containers: [shell("exit 1")] }));
    expect((await restartPauses(node, 22 * MINUTE)).slice(0, 8)).toEqual([0, 10, 20, 40, 80, 160, 300, 300]);
    expect(statusOf(node, "web").containerStatuses?.[0]?.state?.waiting).toMatchObject({
      reason: "CrashLoopBackOff",
      message: expect.stringMatching(/^back-off 5m0s restarting failed container=c pod=web_default\(/) as string,
    });
  });

  it("begins anew after 10 minutes of health", async () => {
    const node = newNode();
    node.pods.apply(podOf("web", { containers: [shell("sleep 660; exit 1")] }));
    expect((await restartPauses(node, 60 * MINUTE)).slice(0, 4)).toEqual([0, 0, 0, 0]);
  });

  it("holds a clean exit back too", async () => {
    const node = newNode();
    node.pods.apply(podOf("web", { containers: [shell("sleep 60; exit 0")] }));
    expect((await restartPauses(node, 30 * MINUTE)).slice(0, 7)).toEqual([0, 10, 20, 40, 80, 160, 300]);
  });
});

describe("K32 the restart count", () => {
  it("never goes down: not when dead containers go, nor when the agent is restarted", async () => {
    const node = newNode();
    const statuses = watchStatuses(node, "web");
    node.pods.apply(podOf("web", { containers: [shell("exit 1")] }));
    await node.clock.advance(3 * MINUTE);
    node.kill();
    for (const { id } of node.runtime.containers()) node.runtime.removeBehind({ id });
    node.start();
    await node.clock.advance(10 * MINUTE);
    for (const { id } of node.runtime.containers()) node.runtime.removeBehind({ id });
    await node.clock.advance(20 * MINUTE);
    const counts = statuses.map(({ containerStatuses }) => containerStatuses?.[0]?.restartCount ?? 0);
    expect(counts).toEqual(counts.toSorted((left, right) => left - right));
    expect(counts.at(-1)).toBeGreaterThanOrEqual(9);
    // The log files of earlier attempts are never written over.
    const attempts = node.runtime.calls
      .filter(({ call }) => call === "createContainer")
      .map(({ request }) => (request as { config: { metadata: { attempt: number } } }).config.metadata.attempt);
    expect(attempts).toEqual([...new Set(attempts)].sort((left, right) => left - right));
  });

  it("is known from the log files when neither the runtime nor a status tells it", async () => {
    const node = newNode();
    node.pods.apply(podOf("web", { containers: [shell("exit 1")] }));
    await node.clock.runUntil(() => statusOf(node, "web").containerStatuses?.[0]?.restartCount === 3, {
      limitMs: 5 * MINUTE,
    });
    node.kill();
    const { status: _status, ...pod } = node.pods.get({ name: "web" }) ?? {};
    node.pods.delete({ name: "web", force: true });
    node.pods.apply(pod);
    for (const { id } of node.runtime.containers()) node.runtime.removeBehind({ id });
    node.runtime.clearCalls();
    node.start();
    await node.clock.advance(MINUTE);
    const create = node.runtime.calls.find(({ call }) => call === "createContainer");
    expect(create?.request).toMatchObject({ config: { metadata: { name: "c", attempt: 4 } } });
  });
});

describe("K34 running pods on a full node when the agent is restarted", () => {
  it("are admitted again; a pod that failed does not count; a new one that does not fit is refused", async () => {
    const node = newNode({ machine: { cpuCores: 4 } });
    const asking = (cpu: string, script = "sleep infinity"): Partial<NonNullable<Pod["spec"]>> => ({
      restartPolicy: "Never",
      containers: [{ ...shell(script), resources: { requests: { cpu } } }],
    });
    node.pods.apply(podOf("failed", asking("3", "exit 1")));
    await untilPhase(node, "failed", "Failed");
    await node.clock.advance(MINUTE);
    node.pods.apply(podOf("a", asking("2")));
    node.pods.apply(podOf("b", asking("1900m")));
    await untilPhase(node, "a", "Running");
    await untilPhase(node, "b", "Running");
    await node.clock.advance(SECOND);
    node.runtime.clearCalls();
    node.kill();
    node.start();
    node.pods.apply(podOf("new", asking("200m")));
    await node.clock.advance(2 * MINUTE);
    expect(["failed", "a", "b", "new"].map((name) => statusOf(node, name).phase)).toEqual([
      "Failed",
      "Running",
      "Running",
      "Failed",
    ]);
    expect([statusOf(node, "failed").reason, statusOf(node, "new").reason]).toEqual([undefined, "OutOfcpu"]);
    expect(callNames(node)).toEqual([]);
    expect(node.runtime.running()).toHaveLength(2);
  });
});

/** Lets an API source show its pods in another state than the programmatic source would keep them. */
function showPods(node: SimulatedNode, change: (pod: Pod) => Pod): void {
  const run = node.pods.run.bind(node.pods);
  node.pods.run = ({ onPods, signal }) => run({ onPods: (pods) => onPods(pods.map(change)), signal });
}

describe("K35 a rejected pod that is deleted", () => {
  it("while the agent runs is reported finished, though it never ran", async () => {
    const node = newNode();
    // An API server that keeps a pod which has ended until its node reports it finished.
    let deleted = false;
    node.kill();
    const pods = new Set<(pods: readonly Pod[]) => void>();
    const run = node.pods.run.bind(node.pods);
    const marked = (pod: Pod): Pod =>
      deleted
        ? {
            ...pod,
            metadata: { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:30Z", deletionGracePeriodSeconds: 30 },
          }
        : pod;
    node.pods.run = ({ onPods, signal }) => {
      pods.add((set) => onPods(set.map(marked)));
      return run({ onPods: (set) => onPods(set.map(marked)), signal });
    };
    const finished: (string | undefined)[] = [];
    node.pods.statusSink.podFinished = async (request) => {
      finished.push(request.pod.metadata?.uid);
      return { kind: "accepted" };
    };
    node.start();
    const resources = { requests: { cpu: "64" } };
    const pod = node.pods.apply(podOf("web", { containers: [{ name: "c", image: IMAGE, resources }] }));
    await untilPhase(node, "web", "Failed");
    await node.clock.advance(SECOND);
    deleted = true;
    for (const tell of pods) tell(node.pods.list());
    await node.clock.advance(10 * SECOND);
    expect(finished).toEqual([pod.metadata?.uid]);
    expect(callNames(node)).toEqual([]);
    expect(statusOf(node, "web").reason).toBe("OutOfcpu");
  });

  it("while the agent is down is reported finished, though it never ran", async () => {
    const node = newNode();
    const resources = { requests: { cpu: "64" } };
    const pod = node.pods.apply(podOf("web", { containers: [{ name: "c", image: IMAGE, resources }] }));
    await untilPhase(node, "web", "Failed");
    await node.clock.advance(SECOND);
    expect(statusOf(node, "web").reason).toBe("OutOfcpu");
    node.kill();
    const finished: (string | undefined)[] = [];
    node.pods.statusSink.podFinished = async (request) => {
      finished.push(request.pod.metadata?.uid);
      return { kind: "accepted" };
    };
    const statuses = watchStatuses(node, "web");
    showPods(node, (shown) => ({
      ...shown,
      metadata: { ...shown.metadata, deletionTimestamp: "2026-01-01T00:00:30Z", deletionGracePeriodSeconds: 30 },
    }));
    node.start();
    await node.clock.advance(10 * SECOND);
    expect(finished).toEqual([pod.metadata?.uid]);
    expect(callNames(node)).toEqual([]);
    for (const { phase, reason } of statuses) expect([phase, reason]).toEqual(["Failed", "OutOfcpu"]);
  });
});
