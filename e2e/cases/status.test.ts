import type { MachineInfo, Pod, PodStatus } from "@nodelet/core";
import { FixedMachine, type SimulatedNode } from "@nodelet/testkit";
import { describe, expect, it } from "vitest";
import {
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

function isTerminal({ phase }: PodStatus): boolean {
  return phase === "Failed" || phase === "Succeeded";
}

/** A job whose container ends after 500 ms, with the statuses that were posted of it. */
async function job(exitCode: number, seed: number): Promise<{ node: SimulatedNode; statuses: readonly PodStatus[] }> {
  const node = newNode({ seed });
  const statuses = watchStatuses(node, "job");
  const container = shell(`sleep 0.5; exit ${exitCode}`);
  node.pods.apply(podOf("job", { restartPolicy: "Never", containers: [container, shell("sleep 600", "long")] }));
  await node.clock.runUntil(() => node.runtime.running().length === 2, { limitMs: 5 * SECOND });
  return { node, statuses };
}

describe("K46 a terminal phase is final", () => {
  const races = [0, 300, 480, 500, 520, 800, 1500].flatMap((deleteMs) =>
    [0, 490, 510, 700].map((removeMs) => [deleteMs, removeMs] as const),
  );

  it.each(races)(
    "deleted after %i ms, its container removed behind the agent after %i ms",
    async (deleteMs, removeMs) => {
      for (const exitCode of [0, 1]) {
        const { node, statuses } = await job(exitCode, deleteMs + removeMs + 1);
        const ended = node.runtime.running().find(({ metadata }) => metadata.name === "c")?.id ?? "";
        const steps: [number, () => void][] = [
          [deleteMs, () => node.pods.delete({ name: "job" })],
          [removeMs, () => node.runtime.removeBehind({ id: ended })],
        ];
        for (const [atMs, step] of steps) node.clock.setTimer(atMs, step);
        await node.clock.runUntil(() => node.agent.pods().length === 0, { limitMs: 2 * MINUTE });
        const phases = statuses.map(({ phase }) => phase);
        const first = statuses.findIndex(isTerminal);
        expect(new Set(phases.slice(first)).size, phases.join(" ")).toBe(1);
        // The other container was killed, so the whole can only have failed.
        expect(phases.at(-1)).toBe("Failed");
        const codes = statuses.flatMap(({ containerStatuses = [] }) =>
          containerStatuses.flatMap(({ name, state }) => (name === "c" && state?.terminated ? [state.terminated] : [])),
        );
        // How it ended is told as it was, or as unknown; never as a success that nobody saw.
        for (const code of codes) {
          const known = code.exitCode === exitCode && code.reason === (exitCode === 0 ? "Completed" : "Error");
          const unknown = code.exitCode === 137;
          expect([code, known || unknown]).toEqual([code, true]);
        }
      }
    },
  );
});

function containerOf(
  node: SimulatedNode,
  name: string,
): NonNullable<PodStatus["containerStatuses"]>[number] | undefined {
  return statusOf(node, "web").containerStatuses?.find((status) => status.name === name);
}

describe("K47 a container that vanished from the runtime", () => {
  async function vanished(spec: Partial<NonNullable<Pod["spec"]>>, name = "c"): Promise<SimulatedNode> {
    const node = newNode();
    node.pods.apply(podOf("web", spec));
    await untilPhase(node, "web", "Running");
    await node.clock.advance(2 * SECOND);
    node.kill();
    const lost = node.runtime.containers().find(({ metadata }) => metadata.name === name);
    node.runtime.removeBehind({ id: lost?.id ?? "" });
    return node;
  }

  it("while the agent was down: it ended with 137 for an unknown reason, and runs again", async () => {
    const node = await vanished({});
    const statuses = watchStatuses(node, "web");
    node.start();
    await node.clock.advance(MINUTE);
    expect(containerOf(node, "c")).toMatchObject({ restartCount: 1, state: { running: {} } });
    expect(statuses.map(({ containerStatuses }) => containerStatuses?.[0]?.lastState?.terminated)).toContainEqual(
      expect.objectContaining({ exitCode: 137, reason: "ContainerStatusUnknown" }),
    );
  });

  it("while the agent was down and the pod was deleted: it ended with 137, and is not run again", async () => {
    const node = await vanished({ restartPolicy: "Never" });
    const statuses = watchStatuses(node, "web");
    node.pods.delete({ name: "web" });
    node.runtime.clearCalls();
    node.start();
    await node.clock.runUntil(() => node.pods.list().length === 0, { limitMs: MINUTE });
    expect(node.runtime.calls.filter(({ call }) => call === "createContainer")).toEqual([]);
    const last = statuses.at(-1);
    expect(last?.phase).toBe("Failed");
    expect(last?.containerStatuses?.[0]).toMatchObject({
      restartCount: 0,
      state: { terminated: { exitCode: 137, reason: "ContainerStatusUnknown" } },
    });
  });

  it("after the API held that it ended with 0: that is kept, and it is not run again", async () => {
    const node = await vanished(
      { restartPolicy: "OnFailure", containers: [shell("exit 0", "done"), shell("sleep 3600", "long")] },
      "done",
    );
    node.runtime.clearCalls();
    node.start();
    await node.clock.advance(MINUTE);
    expect(node.runtime.calls).toEqual([]);
    expect(containerOf(node, "done")?.state?.terminated).toMatchObject({ exitCode: 0, reason: "Completed" });
    node.pods.delete({ name: "web" });
    const statuses = watchStatuses(node, "web");
    await node.clock.runUntil(() => node.agent.pods().length === 0, { limitMs: MINUTE });
    for (const { containerStatuses } of statuses) {
      expect(containerStatuses?.find(({ name }) => name === "done")?.state?.terminated?.exitCode).toBe(0);
    }
  });
});

describe("K49 addresses of the host", () => {
  it("pass over what is no address, and a host-network pod keeps its own when the node's changes", async () => {
    let nodeIps: MachineInfo["nodeIps"] = ["node.example", "", "192.0.2.10"];
    const node = newNode({
      decorate: (ports) => ({ ...ports, machine: new FixedMachine({ nodeIps }) }),
    });
    const statuses = watchStatuses(node, "web");
    node.pods.apply(podOf("web", { hostNetwork: true }));
    await untilPhase(node, "web", "Running");
    await node.clock.advance(SECOND);
    expect(statusOf(node, "web")).toMatchObject({ hostIP: "192.0.2.10", podIP: "192.0.2.10" });
    node.kill();
    nodeIps = ["192.0.2.20"];
    node.start();
    await node.clock.advance(MINUTE);
    expect(statusOf(node, "web")).toMatchObject({
      hostIP: "192.0.2.20",
      podIP: "192.0.2.10",
      podIPs: [{ ip: "192.0.2.10" }],
    });
    const told = new Set(statuses.flatMap(({ hostIP, podIP }) => [hostIP, podIP]));
    expect(told).toEqual(new Set(["192.0.2.10", "192.0.2.20"]));
    node.pods.delete({ name: "web" });
    await node.clock.runUntil(() => node.agent.pods().length === 0, { limitMs: MINUTE });
    node.pods.apply(podOf("web", { hostNetwork: true }));
    await untilPhase(node, "web", "Running");
    expect(statusOf(node, "web").podIP).toBe("192.0.2.20");
  });
});

describe("K50 the observed generation", () => {
  it("is that of the pod which the status was computed from: never ahead, and in the conditions too", async () => {
    const node = newNode();
    node.images.add("localhost/busybox:1.36");
    const { statusSink } = node.pods;
    const write = statusSink.writeStatus.bind(statusSink);
    const told: (readonly [observed: number, generation: number, image: string])[] = [];
    statusSink.writeStatus = (request) => {
      const { observedGeneration, conditions, containerStatuses } = request.status;
      const generation = Number(node.pods.get({ name: "web" })?.metadata?.generation);
      told.push([Number(observedGeneration), generation, containerStatuses?.[0]?.image ?? ""]);
      for (const condition of conditions ?? []) {
        expect(Number(condition.observedGeneration)).toBeLessThanOrEqual(Number(observedGeneration));
      }
      return write(request);
    };
    node.pods.apply(podOf("web"));
    await untilPhase(node, "web", "Running");
    node.pods.apply(
      podOf("web", { containers: [{ name: "c", image: "localhost/busybox:1.36", command: ["server"] }] }),
    );
    await node.clock.advance(MINUTE);
    expect(statusOf(node, "web")).toMatchObject({ observedGeneration: 2, phase: "Running" });
    for (const [observed, generation] of told) expect(observed).toBeLessThanOrEqual(generation);
    for (const [observed, , image] of told) expect(image === IMAGE || observed === 2).toBe(true);
    expect(told.map(([observed]) => observed)).toEqual(told.map(([observed]) => observed).toSorted((a, b) => a - b));
  });

  it("of a pending resize stays at the generation that asked for it", async () => {
    const node = newNode();
    node.images.add("localhost/busybox:1.36");
    const resources = { requests: { cpu: "100m" } };
    const container = { name: "c", image: IMAGE, command: ["server"], resources };
    node.pods.apply(podOf("web", { containers: [container] }));
    await untilPhase(node, "web", "Running");
    node.pods.resize({ name: "web", containers: [{ name: "c", resources: { requests: { cpu: "200m" } } }] });
    await node.clock.advance(10 * SECOND);
    const image = "localhost/busybox:1.36";
    const spec = { ...container, image, resources: { requests: { cpu: "200m" } } };
    node.pods.apply(podOf("web", { containers: [spec] }));
    await node.clock.advance(MINUTE);
    const { observedGeneration, conditions } = statusOf(node, "web");
    const of = (type: string): unknown => conditions?.find((condition) => condition.type === type)?.observedGeneration;
    expect([observedGeneration, of("Ready"), of("PodResizePending")]).toEqual([3, 3, 2]);
    expect(containerOf(node, "c")).toMatchObject({ image, allocatedResources: { cpu: "100m" } });
  });
});
