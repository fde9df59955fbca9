import type { PodCondition } from "@nodelet/core";
import type { SimulatedNode } from "@nodelet/testkit";
import { describe, expect, it } from "vitest";
import {
  callNames,
  eventsOf,
  IMAGE,
  MINUTE,
  newNode,
  podOf,
  statusOf,
  untilPhase,
  watchStatuses,
} from "./cases.test-support.ts";

const small = { requests: { cpu: "100m", memory: "64Mi" }, limits: { cpu: "200m", memory: "64Mi" } };
const large = { requests: { cpu: "500m", memory: "64Mi" }, limits: { cpu: "1", memory: "64Mi" } };

async function resizedNode(): Promise<SimulatedNode> {
  const node = newNode();
  node.pods.apply(podOf("web", { containers: [{ name: "c", image: IMAGE, command: ["server"], resources: small }] }));
  await untilPhase(node, "web", "Running");
  node.runtime.clearCalls();
  node.pods.resize({ name: "web", containers: [{ name: "c", resources: large }] });
  await node.clock.advance(2 * MINUTE);
  return node;
}

function pending(node: SimulatedNode): PodCondition | undefined {
  return statusOf(node, "web").conditions?.find(({ type }) => type === "PodResizePending");
}

function infeasible(node: SimulatedNode): number {
  return eventsOf(node).filter((line) => line.startsWith("ResizeInfeasible: Pod resize Infeasible: {")).length;
}

describe("a resize, which is not carried out yet", () => {
  it("leaves the container and its allocated resources as they are, and the status says so", async () => {
    const node = await resizedNode();
    expect(callNames(node)).toEqual([]);
    expect(pending(node)).toMatchObject({ status: "True", reason: "Infeasible", observedGeneration: 2 });
    expect(pending(node)?.message).toContain("container c");
    const status = statusOf(node, "web");
    expect(status.observedGeneration).toBe(2);
    expect(status.containerStatuses?.[0]).toMatchObject({ allocatedResources: small.requests, resources: small });
    expect(infeasible(node)).toBe(1);
  });

  it("restarts the container with what was allocated", async () => {
    const node = await resizedNode();
    const [running] = node.runtime.running();
    node.runtime.endContainer({ containerId: running?.id ?? "", exitCode: 1 });
    await node.clock.advance(MINUTE);
    const [again] = node.runtime.running();
    expect(again?.id).not.toBe(running?.id);
    // 100m are 102 shares, 200m are 20 of 100 ms, 64 Mi.
    expect(again?.resources).toMatchObject({ cpuShares: 102n, cpuQuota: 20_000n, memoryLimitInBytes: 67_108_864n });
  });

  it("is forgotten when it is taken back, without a word of its own", async () => {
    const node = await resizedNode();
    node.pods.resize({ name: "web", containers: [{ name: "c", resources: small }] });
    await node.clock.advance(MINUTE);
    expect(pending(node)).toBeUndefined();
    expect(statusOf(node, "web").observedGeneration).toBe(3);
    expect([callNames(node), infeasible(node)]).toEqual([[], 1]);
  });

  it("survives kill -9 of the agent: nothing is written, told or done again", async () => {
    const node = await resizedNode();
    const before = statusOf(node, "web");
    const written = watchStatuses(node, "web");
    node.kill();
    node.start();
    await node.clock.advance(2 * MINUTE);
    expect(statusOf(node, "web")).toEqual(before);
    expect([callNames(node), written, infeasible(node)]).toEqual([[], [], 1]);
  });

  it("is seen when it was asked for while the agent was down", async () => {
    const node = newNode();
    node.pods.apply(podOf("web", { containers: [{ name: "c", image: IMAGE, command: ["server"], resources: small }] }));
    await untilPhase(node, "web", "Running");
    await node.clock.advance(1000);
    node.kill();
    node.pods.resize({ name: "web", containers: [{ name: "c", resources: large }] });
    node.start();
    await node.clock.advance(MINUTE);
    expect(pending(node)).toMatchObject({ reason: "Infeasible", observedGeneration: 2 });
    expect(statusOf(node, "web").containerStatuses?.[0]).toMatchObject({ allocatedResources: small.requests });
  });

  it("counts what was allocated against the node, not what is asked for", async () => {
    const node = await resizedNode();
    // 2 CPUs, of which 100m are allocated and 500m asked for.
    const asks = { requests: { cpu: "1900m" } };
    node.pods.apply(podOf("fits", { containers: [{ name: "c", image: IMAGE, command: ["server"], resources: asks }] }));
    await untilPhase(node, "fits", "Running");
    const more = { requests: { cpu: "1m" } };
    node.pods.apply(podOf("more", { containers: [{ name: "c", image: IMAGE, command: ["server"], resources: more }] }));
    await untilPhase(node, "more", "Failed");
    expect(statusOf(node, "more").reason).toBe("OutOfcpu");
  });
});
