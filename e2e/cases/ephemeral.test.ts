import type { SimulatedNode } from "@nodelet/testkit";
import { describe, expect, it } from "vitest";
import { callNames, eventsOf, IMAGE, MINUTE, newNode, podOf, statusOf, untilPhase } from "./cases.test-support.ts";

async function debugged(command: readonly string[], image = IMAGE): Promise<SimulatedNode> {
  const node = newNode();
  node.pods.apply(podOf("web"));
  await untilPhase(node, "web", "Running");
  node.runtime.clearCalls();
  node.pods.addEphemeralContainer({
    name: "web",
    container: { name: "debug", image, command: [...command], targetContainerName: "c" },
  });
  await node.clock.advance(MINUTE);
  return node;
}

describe("an ephemeral container", () => {
  it("starts beside the others, in the process namespace of its target, and disturbs none of them", async () => {
    const node = await debugged(["sleep", "infinity"]);
    expect(callNames(node)).toEqual(["createContainer debug", "startContainer"]);
    const target = node.runtime.running().find(({ metadata }) => metadata.name === "c");
    const create = node.runtime.calls.find(({ call }) => call === "createContainer");
    expect(create?.request).toMatchObject({
      config: { linux: { securityContext: { namespaceOptions: { pid: "TARGET", targetId: target?.id } } } },
    });
    const status = statusOf(node, "web");
    expect(status.ephemeralContainerStatuses).toMatchObject([
      { name: "debug", ready: false, restartCount: 0, state: { running: {} } },
    ]);
    expect(status).toMatchObject({ phase: "Running", observedGeneration: 2 });
    expect(status.conditions?.find(({ type }) => type === "Ready")?.status).toBe("True");
    const fieldPaths = node.events.events.map(({ reason, involved }) => `${reason} ${involved.fieldPath ?? ""}`);
    expect(fieldPaths).toContain("Started spec.ephemeralContainers{debug}");
  });

  it("never runs again once it ended, not after a restart of the agent either", async () => {
    const node = await debugged(["sh", "-c", "exit 7"]);
    node.kill();
    node.start();
    await node.clock.advance(10 * MINUTE);
    expect(callNames(node)).toEqual(["createContainer debug", "startContainer"]);
    expect(statusOf(node, "web").ephemeralContainerStatuses).toMatchObject([
      { restartCount: 0, state: { terminated: { exitCode: 7, reason: "Error" } } },
    ]);
    expect(statusOf(node, "web").phase).toBe("Running");
  });

  it("never runs again when the runtime lost it after it ended", async () => {
    const node = await debugged(["sh", "-c", "exit 7"]);
    const ended = node.runtime.containers().find(({ metadata }) => metadata.name === "debug");
    node.runtime.removeBehind({ id: ended?.id ?? "" });
    node.runtime.clearCalls();
    await node.clock.advance(2 * MINUTE);
    expect(callNames(node)).toEqual([]);
    expect(statusOf(node, "web").ephemeralContainerStatuses?.[0]?.state?.terminated?.exitCode).toBe(7);
  });

  it("shows why it cannot start, while the pod stays Running and Ready", async () => {
    const node = await debugged(["sleep", "infinity"], "localhost/absent:1");
    const [status] = statusOf(node, "web").ephemeralContainerStatuses ?? [];
    expect(status?.state?.waiting?.reason).toMatch(/^(ErrImagePull|ImagePullBackOff)$/);
    expect(eventsOf(node, "web").some((line) => line.startsWith("Failed: Failed to pull image"))).toBe(true);
    expect(statusOf(node, "web").phase).toBe("Running");
    expect(statusOf(node, "web").conditions?.find(({ type }) => type === "Ready")?.status).toBe("True");
  });

  it("is stopped with its pod, and leaves nothing", async () => {
    const node = await debugged(["sleep", "infinity"]);
    node.pods.delete({ name: "web" });
    await node.clock.runUntil(() => node.agent.pods().length === 0, { limitMs: MINUTE });
    expect(node.runtime.containers()).toEqual([]);
    expect(node.files.list("/var/log/containers")).toEqual([]);
  });

  it("does not keep a pod alive whose regular containers are done", async () => {
    const node = newNode();
    const command = ["sh", "-c", "sleep 30"];
    node.pods.apply(podOf("job", { restartPolicy: "Never", containers: [{ name: "c", image: IMAGE, command }] }));
    await untilPhase(node, "job", "Running");
    node.pods.addEphemeralContainer({
      name: "job",
      container: { name: "debug", image: IMAGE, command: ["sleep", "infinity"] },
    });
    await node.clock.advance(2 * MINUTE);
    expect(statusOf(node, "job").phase).toBe("Succeeded");
    expect(node.runtime.running()).toEqual([]);
  });
});
