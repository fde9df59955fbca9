import { describe, expect, it } from "vitest";
import { eventsOf, MINUTE, newNode, podOf, SECOND, statusOf, untilPhase } from "./cases.test-support.ts";

describe("K85 a container's name is reserved", () => {
  it.each([
    ["is made after all", true],
    ["is never made", false],
  ])(
    "by a call that was given up and %s: one instance runs in the end, attempts do not race ahead",
    async (_, takesEffect) => {
      const node = newNode({
        config: { runtimeRequestTimeoutMs: 30 * SECOND },
        runtime: { requestTimeoutMs: 30 * SECOND },
      });
      node.runtime.hang({ calls: ["createContainer"], times: 1, forMs: 120 * SECOND, takesEffect });
      node.pods.apply(podOf("web"));
      const waiting = (): string => statusOf(node, "web").containerStatuses?.[0]?.state?.waiting?.message ?? "";
      const reserved = (): boolean => /name .* is reserved for/.test(waiting());
      await node.clock.runUntil(reserved, { limitMs: 2 * MINUTE, what: "the status tells that the name is reserved" });
      expect(statusOf(node, "web").containerStatuses?.[0]?.state?.waiting?.reason).toBe("CreateContainerError");
      await untilPhase(node, "web", "Running");
      await node.clock.advance(2 * MINUTE);
      expect(node.runtime.running()).toHaveLength(1);
      expect(node.runtime.containers().filter(({ state }) => state === "CONTAINER_CREATED")).toEqual([]);
      expect(statusOf(node, "web").containerStatuses?.[0]?.restartCount).toBeLessThanOrEqual(1);
      expect(node.invariants.violations).toEqual([]);
      // Tried about every 10 to 15 s within the two minutes, never in a tight loop.
      const tries = node.runtime.calls.filter(({ call }) => call === "createContainer").length;
      expect(tries).toBeLessThanOrEqual(14);
      expect(
        eventsOf(node, "web").some((line) => line.startsWith("Failed: Error: ") && line.includes("reserved")),
      ).toBe(true);
    },
  );
});

describe("K85 a sandbox's name is reserved", () => {
  it.each([
    ["is made after all", true, false],
    ["is never made", false, false],
    ["is made after all, with the agent killed meanwhile", true, true],
  ])(
    "by a call that was given up and %s: one sandbox serves in the end, nothing else is left",
    async (_, takesEffect, killed) => {
      const node = newNode({
        config: { runtimeRequestTimeoutMs: 30 * SECOND },
        runtime: { requestTimeoutMs: 30 * SECOND },
      });
      node.runtime.hang({ calls: ["runSandbox"], times: 1, forMs: 120 * SECOND, takesEffect });
      node.pods.apply(podOf("web"));
      // A sandbox is given twice the usual time.
      await node.clock.advance(80 * SECOND);
      expect(
        eventsOf(node, "web").some((line) => line.startsWith("FailedCreatePodSandBox: ") && line.includes("reserved")),
      ).toBe(true);
      if (killed) {
        node.kill();
        node.start();
      }
      await untilPhase(node, "web", "Running");
      await node.clock.advance(3 * MINUTE);
      expect(node.runtime.sandboxes().map(({ state }) => state)).toEqual(["SANDBOX_READY"]);
      expect([node.runtime.running().length, node.runtime.ipsTaken]).toEqual([1, 1]);
      expect(statusOf(node, "web").podIP).toBe(node.runtime.sandboxes()[0]?.ips?.[0]);
      expect(node.invariants.violations).toEqual([]);
    },
  );

  it("by a call that was given up for a pod that was deleted meanwhile: the late sandbox goes", async () => {
    const node = newNode({
      config: { runtimeRequestTimeoutMs: 30 * SECOND },
      runtime: { requestTimeoutMs: 30 * SECOND },
    });
    node.runtime.hang({ calls: ["runSandbox"], times: 1, forMs: 120 * SECOND, takesEffect: true });
    node.pods.apply(podOf("web"));
    await node.clock.advance(40 * SECOND);
    node.pods.delete({ name: "web" });
    await node.clock.runUntil(() => node.agent.pods().length === 0, { limitMs: MINUTE });
    await node.clock.runUntil(() => node.runtime.sandboxes().length === 1, { limitMs: 3 * MINUTE, what: "it appears" });
    await node.clock.advance(MINUTE);
    expect([node.runtime.sandboxes(), node.runtime.ipsTaken]).toEqual([[], 0]);
  });
});

describe("K86 a sandbox from before a reboot", () => {
  it("is replaced by one with the next attempt, and goes with its containers", async () => {
    const node = newNode();
    node.pods.apply(podOf("web"));
    await untilPhase(node, "web", "Running");
    const attempts = (): readonly (readonly [number, string])[] =>
      node.runtime.sandboxes().map(({ metadata, state }) => [metadata.attempt, state]);
    for (const attempt of [1, 2]) {
      node.kill();
      node.runtime.reboot();
      node.runtime.clearCalls();
      node.start();
      await node.clock.runUntil(() => node.runtime.running().length === 1, { limitMs: MINUTE });
      const runs = node.runtime.calls.filter(({ call }) => call === "runSandbox");
      expect(runs.map(({ request }) => request["config"])).toMatchObject([{ metadata: { attempt } }]);
    }
    // Two that are not ready and one that is: the newest one serves.
    expect(attempts()).toContainEqual([2, "SANDBOX_READY"]);
    await node.clock.advance(10 * SECOND);
    expect(statusOf(node, "web").podIP).toBe(
      node.runtime.sandboxes().find(({ state }) => state === "SANDBOX_READY")?.ips?.[0],
    );
    expect(node.runtime.ipsTaken).toBe(1);
    await node.clock.advance(3 * MINUTE);
    // The last dead container is kept for its log and its last state, and its sandbox with it.
    expect(attempts()).toEqual([
      [1, "SANDBOX_NOTREADY"],
      [2, "SANDBOX_READY"],
    ]);
    expect(statusOf(node, "web")).toMatchObject({ phase: "Running", containerStatuses: [{ restartCount: 2 }] });
  });

  it("that the agent cannot see any more still holds its name: the next attempt is found", async () => {
    const node = newNode();
    node.pods.apply(podOf("web"));
    await untilPhase(node, "web", "Running");
    node.kill();
    node.runtime.reboot();
    node.start();
    await node.clock.runUntil(() => node.runtime.running().length === 1, { limitMs: MINUTE });
    const ready = node.runtime.sandboxes().filter(({ state }) => state === "SANDBOX_READY");
    expect(ready.map(({ metadata }) => metadata.attempt)).toEqual([1]);
    expect(node.invariants.violations).toEqual([]);
  });
});
