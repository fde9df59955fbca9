import { NodeletError } from "@nodelet/core";
import type { SimulatedNode } from "@nodelet/testkit";
import { describe, expect, it } from "vitest";
import { IMAGE, MINUTE, newNode, podOf, SECOND, shell, untilPhase } from "./cases.test-support.ts";

/** Everything that the agent or the node still holds. */
function leftOver(node: SimulatedNode): Readonly<Record<string, unknown>> {
  return {
    ...node.agent.bookkeeping(),
    views: node.agent.pods().length,
    containers: node.runtime.containers().length,
    sandboxes: node.runtime.sandboxes().length,
    addresses: node.runtime.ipsTaken,
    files: ["/var/lib/kubelet/pods", "/var/log/pods", "/var/log/containers"].flatMap((path) => node.files.list(path))
      .length,
    cgroups: node.cgroups.paths().filter((path) => /\/pod[0-9a-f-]+$/.test(path)).length,
  };
}

describe("K97 bookkeeping after churn", () => {
  it("holds nothing about 2000 short pods that came and went, whatever their end raced with", {
    timeout: 120_000,
  }, async () => {
    const node = newNode({ config: { maxPods: 100 } });
    const random = node.random.fork("churn");
    const counted = new Map<string, number>();
    for (let batch = 0; batch < 20; batch += 1) {
      const names = Array.from({ length: 100 }, (_, index) => `short-${batch}-${index}`);
      for (const name of names) {
        node.pods.apply(
          podOf(name, {
            restartPolicy: random.pick(["Always", "OnFailure", "Never"]),
            terminationGracePeriodSeconds: random.int({ min: 0, max: 3 }),
            containers: [
              random.pick([
                { name: "c", image: IMAGE, command: ["server"] },
                { name: "c", image: "localhost/absent:1" },
                { ...shell("exit 1"), resources: { requests: { cpu: random.pick(["1m", "64"]) } } },
                shell("sleep 1"),
              ]),
            ],
          }),
        );
        const deletion = { name, ...(random.chance(0.2) && { force: true }) };
        node.clock.setTimer(random.int({ min: 0, max: 4 * SECOND }), () => node.pods.delete(deletion));
      }
      await node.clock.advance(2 * SECOND);
      for (const [name, count] of Object.entries(node.agent.bookkeeping()))
        counted.set(name, Math.max(counted.get(name) ?? 0, count));
      await node.clock.runUntil(() => node.agent.pods().length === 0 && node.pods.list().length === 0, {
        limitMs: 5 * MINUTE,
        what: `batch ${batch} is gone`,
      });
    }
    // Every part had something to forget.
    expect([...counted].filter(([, count]) => count === 0)).toEqual([]);
    // Two rounds of housekeeping, which goes through the disk once a minute.
    await node.clock.advance(2 * MINUTE + 5 * SECOND);
    const left = Object.entries(leftOver(node)).filter(([, count]) => count !== 0);
    expect(left).toEqual([]);
    expect(node.invariants.violations).toEqual([]);
  });
});

describe("K98 a flood of events", () => {
  it("of a pod that fails a thousand times with changing texts is held to a trickle of short ones; its status is right when it succeeds", async () => {
    let tries = 0;
    const node = newNode({
      decorate: (ports) => ({
        ...ports,
        runtime: {
          ...ports.runtime,
          runSandbox: async (request) => {
            tries += 1;
            if (tries > 1000) return ports.runtime.runSandbox(request);
            throw new NodeletError("internal", `try ${tries} failed: ${"x".repeat(tries === 1 ? 5_000_000 : 1000)}`);
          },
        },
      }),
    });
    node.pods.apply(podOf("web"));
    const tookMs = await node.clock.runUntil(() => tries > 1000, { limitMs: 10 * 60 * MINUTE });
    const events = [...node.events.events];
    await untilPhase(node, "web", "Running");
    // 25 at once, then one every five minutes.
    const allowed = 25 + Math.ceil(tookMs / (5 * MINUTE));
    expect(events.length).toBeGreaterThan(25);
    expect(events.length).toBeLessThanOrEqual(allowed);
    expect(new Set(events.map(({ reason }) => reason))).toEqual(
      new Set(["MissingClusterDNS", "FailedCreatePodSandBox"]),
    );
    const combined = events.filter(({ message }) => message.startsWith("(combined from similar events): "));
    expect(combined.length).toBe(events.length - 1 - 9);
    expect(Math.max(...events.map(({ message }) => message.length))).toBeLessThanOrEqual(1024);
    const uid = node.pods.get({ name: "web" })?.metadata?.uid ?? "";
    const records = node.agent.decisions.list({ podUid: uid });
    expect(records.length).toBeLessThanOrEqual(100);
    expect(Math.max(...records.map(({ message }) => message.length))).toBeLessThanOrEqual(1024);
    const status = JSON.stringify(node.pods.get({ name: "web" })?.status);
    expect(status.length).toBeLessThan(10_000);
  });
});
