import type { Pod, PodSource } from "@nodelet/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SeededRandom } from "../random/seeded-random.ts";
import { containerdLatency } from "../runtime/runtime-options.ts";
import { SimulatedNode } from "./simulated-node.ts";

const IMAGE = "localhost/busybox:1.35";
const MINUTE = 60_000;

function newNode(seed = 1): SimulatedNode {
  const node = new SimulatedNode({ seed, runtime: { latencyMs: containerdLatency(new SeededRandom(seed)) } });
  node.images.add(IMAGE);
  return node;
}

function podOf(name: string, overrides: Partial<NonNullable<Pod["spec"]>> = {}): Pod {
  return {
    metadata: { name, namespace: "default" },
    spec: {
      terminationGracePeriodSeconds: 2,
      containers: [{ name: "c", image: IMAGE, command: ["server"] }],
      ...overrides,
    },
  };
}

const isRunning = (view: { readonly status: Pod["status"] | undefined }): boolean => view.status?.phase === "Running";

/** Names of the changing calls so far. */
function calls(node: SimulatedNode): readonly string[] {
  return node.runtime.calls.map(({ call }) => call);
}

function restartCount(node: SimulatedNode, name: string): number {
  const view = node.agent.pods().find(({ pod }) => pod.metadata?.name === name);
  return view?.status?.containerStatuses?.[0]?.restartCount ?? -1;
}

describe("an agent on a simulated node", () => {
  it("brings a pod up with one sandbox, one container and one start, and takes it down without a rest", async () => {
    const node = newNode();
    node.start();
    node.pods.apply(podOf("web"));
    await node.untilPods(isRunning, { limitMs: 5000 });
    expect(calls(node)).toEqual(["runSandbox", "createContainer", "startContainer"]);

    node.pods.delete({ name: "web" });
    await node.clock.runUntil(() => node.pods.list().length === 0 && node.agent.pods().length === 0, {
      limitMs: 10_000,
    });
    expect(node.runtime.containers()).toEqual([]);
    expect(node.runtime.sandboxes()).toEqual([]);
    expect(node.files.list("/var/lib/kubelet/pods")).toEqual([]);
    expect(node.files.list("/var/log/pods")).toEqual([]);
    expect(node.files.list("/var/log/containers")).toEqual([]);
    expect(node.cgroups.paths()).toEqual(["/kubepods", "/kubepods/besteffort", "/kubepods/burstable"]);
  });

  it("keeps running pods through kill -9 and restart: no changing call, no write, Ready never flips", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 1_000_000 }),
        fc.integer({ min: 0, max: 20_000 }),
        async (seed, downMs) => {
          const node = newNode(seed);
          node.start();
          for (const name of ["a", "b", "c"]) node.pods.apply(podOf(name));
          await node.untilPods(isRunning, { limitMs: 10_000 });
          await node.clock.advance(15_000);
          const before = node.runtime.running().map(({ id }) => id);
          node.runtime.clearCalls();
          const statuses: Pod["status"][] = [];
          const { statusSink } = node.pods;
          const write = statusSink.writeStatus.bind(statusSink);
          statusSink.writeStatus = (request) => {
            statuses.push(request.status);
            return write(request);
          };
          node.kill();
          await node.clock.advance(downMs);
          node.start();
          await node.clock.advance(3 * MINUTE);
          expect(calls(node)).toEqual([]);
          expect(node.runtime.running().map(({ id }) => id)).toEqual(before);
          expect(statuses).toEqual([]);
          node.kill();
        },
      ),
      { numRuns: 25 },
    );
  });

  it("backs a crash loop off by 10, 20, 40, 80, 160 and then 300 s, and begins anew after 10 minutes of health", async () => {
    const node = newNode();
    node.start();
    node.pods.apply(podOf("loop", { containers: [{ name: "c", image: IMAGE, command: ["sh", "-c", "exit 1"] }] }));
    const starts: number[] = [];
    node.runtime.onChange((change) => {
      if (change.kind === "container" && change.to === "CONTAINER_RUNNING") starts.push(node.clock.monotonicMs());
    });
    await node.clock.advance(22 * MINUTE);
    const gaps = starts.slice(1).map((at, index) => Math.round((at - (starts[index] ?? 0)) / 1000));
    // The first restart comes at once; a start itself takes less than half a second.
    expect(gaps.slice(0, 8)).toEqual([0, 10, 20, 40, 80, 160, 300, 300]);
  });

  it("keeps the back-off and the restart count over a restart of the agent", async () => {
    const node = newNode();
    node.start();
    node.pods.apply(podOf("loop", { containers: [{ name: "c", image: IMAGE, command: ["sh", "-c", "exit 1"] }] }));
    await node.clock.runUntil(() => restartCount(node, "loop") === 4, { limitMs: 5 * MINUTE });
    node.kill();
    node.start();
    const startedMs = node.clock.monotonicMs();
    await node.clock.runUntil(() => node.runtime.containers().some(({ metadata }) => metadata.attempt === 5), {
      limitMs: 5 * MINUTE,
    });
    // The window that opened with the fourth restart is the fifth: 80 s.
    expect(Math.round((node.clock.monotonicMs() - startedMs) / 1000)).toBe(80);
    await node.clock.advance(1000);
    expect(restartCount(node, "loop")).toBe(5);
  });

  it("tells addresses and running containers while another container's image is still being pulled", async () => {
    const node = newNode();
    node.images.offer("localhost/slow:1");
    node.images.hang({ calls: ["pullImage"] });
    node.start();
    const [server] = podOf("half").spec?.containers ?? [];
    const containers = [server, { ...server, name: "late", image: "localhost/slow:1" }].filter(
      (item) => item !== undefined,
    );
    node.pods.apply(podOf("half", { containers }));
    await node.clock.advance(3000);
    const { status } = node.pods.get({ name: "half" }) ?? {};
    expect(status?.podIP).toMatch(/^10\./);
    expect(status?.conditions?.find(({ type }) => type === "PodReadyToStartContainers")?.status).toBe("True");
    expect(status?.containerStatuses?.map(({ name, state }) => [name, Object.keys(state ?? {})[0]])).toEqual([
      ["c", "running"],
      ["late", "waiting"],
    ]);
  });

  it("replaces a container whose definition changed even if its policy is Never, and never tells it as ended", async () => {
    const node = newNode();
    node.images.offer({ reference: "localhost/new:1" });
    node.start();
    const container = { name: "c", image: IMAGE, command: ["sleep", "infinity"] };
    const spec = { restartPolicy: "Never", terminationGracePeriodSeconds: 5, containers: [container] };
    node.pods.apply(podOf("once", spec));
    await node.untilPods(isRunning, { limitMs: 5000 });
    const told: (string | undefined)[] = [];
    const { statusSink } = node.pods;
    const write = statusSink.writeStatus.bind(statusSink);
    statusSink.writeStatus = (request) => {
      told.push(Object.keys(request.status.containerStatuses?.[0]?.state ?? {})[0]);
      return write(request);
    };
    node.pods.apply(podOf("once", { ...spec, containers: [{ ...container, image: "localhost/new:1" }] }));
    await node.clock.advance(30_000);
    expect(node.runtime.running().map(({ image, metadata }) => [image.image, metadata.attempt])).toEqual([
      [expect.stringContaining("new"), 1],
    ]);
    expect(told).not.toContain("terminated");
    expect(node.pods.get({ name: "once" })?.status?.containerStatuses?.[0]).toMatchObject({
      ready: true,
      restartCount: 1,
    });
  });

  it("lets one pod whose calls hang delay no other", async () => {
    const node = newNode();
    node.start();
    const stuck = node.pods.apply(podOf("stuck"));
    node.runtime.hang({ id: stuck.metadata?.uid ?? "" });
    await node.clock.advance(1000);
    for (const name of ["a", "b", "c"]) node.pods.apply(podOf(name));
    const tookMs = await node.clock.runUntil(() => node.agent.pods().filter(isRunning).length === 3, {
      limitMs: 10_000,
    });
    expect(tookMs).toBeLessThan(1500);
    node.pods.delete({ name: "a" });
    await node.clock.runUntil(() => node.pods.get({ name: "a" }) === undefined, { limitMs: 5000 });
  });

  it("shrinks the grace of a running termination, and never lengthens it", async () => {
    const node = newNode();
    node.start();
    node.pods.apply(
      podOf("slow", {
        terminationGracePeriodSeconds: 120,
        containers: [{ name: "c", image: IMAGE, command: ["sleep", "infinity"] }],
      }),
    );
    await node.untilPods(isRunning, { limitMs: 5000 });
    node.pods.delete({ name: "slow" });
    await node.clock.advance(5000);
    node.pods.delete({ name: "slow", graceSeconds: 5 });
    node.pods.delete({ name: "slow", graceSeconds: 100 });
    const tookMs = await node.clock.runUntil(() => node.runtime.running().length === 0, { limitMs: 30_000 });
    expect(tookMs).toBeGreaterThan(4000);
    expect(tookMs).toBeLessThan(7000);
  });

  it("tells that a pod is gone when its deletion is asked for long after it had finished", async () => {
    const done = podOf("done", {
      restartPolicy: "Never",
      containers: [{ name: "c", image: IMAGE, command: ["true"] }],
    });
    const pod: Pod = { ...done, metadata: { ...done.metadata, uid: "11111111-2222-3333-4444-555555555555" } };
    const told = Promise.withResolvers<(pods: readonly Pod[]) => void>();
    const source: PodSource = {
      name: "elsewhere",
      run: ({ onPods, signal }) => {
        onPods([pod]);
        told.resolve(onPods);
        return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
      },
    };
    const node = new SimulatedNode({ sources: [source] });
    node.images.add(IMAGE);
    const finished: (string | undefined)[] = [];
    node.pods.statusSink.writeStatus = async () => ({ kind: "accepted" });
    node.pods.statusSink.podFinished = async (request) => {
      finished.push(request.pod.metadata?.uid);
      return { kind: "accepted" };
    };
    node.start();
    await node.untilPods(({ phase }) => phase === "finished", { limitMs: 60_000 });
    expect(finished).toEqual([]);
    const deleteNow = await told.promise;
    const deletionTimestamp = "2026-01-01T01:00:00Z";
    deleteNow([{ ...pod, metadata: { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: 2 } }]);
    await node.clock.advance(15_000);
    expect(finished).toEqual([pod.metadata?.uid]);
  });

  it("leaves pods that it did not make alone, tells so once, and adopts them only when told to", async () => {
    const maker = newNode();
    maker.start();
    maker.pods.apply(podOf("theirs"));
    await maker.untilPods(isRunning, { limitMs: 5000 });
    maker.kill();
    for (const uid of maker.files.list("/var/lib/kubelet/pods")) maker.files.remove(`/var/lib/kubelet/pods/${uid}`);
    maker.pods.delete({ name: "theirs", force: true });
    const agent = maker.start();
    await maker.clock.advance(2 * MINUTE);
    expect(maker.runtime.running()).toHaveLength(1);
    expect(
      agent.decisions
        .list()
        .filter(({ reason }) => reason === "ForeignPod")
        .map(({ count }) => count),
    ).toEqual([1]);
  });

  it("writes nothing while nothing changes", async () => {
    const node = newNode();
    node.start();
    for (const name of ["a", "b"]) node.pods.apply(podOf(name));
    await node.untilPods(isRunning, { limitMs: 5000 });
    await node.clock.advance(MINUTE);
    let writes = 0;
    const { statusSink } = node.pods;
    statusSink.writeStatus = async () => {
      writes += 1;
      return { kind: "accepted" };
    };
    node.runtime.clearCalls();
    await node.clock.advance(60 * MINUTE);
    expect({ writes, calls: calls(node) }).toEqual({ writes: 0, calls: [] });
  });
});
