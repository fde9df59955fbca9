import type { Pod } from "@nodelet/core";
import { describe, expect, it } from "vitest";
import { IMAGE, nodeWith, SetSource, staticPod, untilRunning, viewOf } from "./set-source.test-support.ts";

const MINUTE = 60_000;
/** Ignores SIGTERM, so that it takes its whole grace to stop. */
const STUBBORN = ["sleep", "infinity"];

function withHostPort(uid: string): Pod {
  const ports = [{ containerPort: 80, hostPort: 8080 }];
  return staticPod({ name: "web", uid }, { containers: [{ name: "c", image: IMAGE, command: STUBBORN, ports }] });
}

function withCpu(uid: string): Pod {
  const resources = { requests: { cpu: "600m" } };
  return staticPod({ name: "web", uid }, { containers: [{ name: "c", image: IMAGE, command: STUBBORN, resources }] });
}

describe("a static pod whose manifest changed", () => {
  it.each([
    ["its host port", withHostPort],
    ["more than half of the node's cpu", withCpu],
  ])("takes over %s from the one before, once that has stopped", async (_, podOf) => {
    const source = new SetSource();
    const node = nodeWith(source, { machine: { cpuCores: 1 } });
    source.set(podOf("u1"));
    node.start();
    await untilRunning(node);
    source.set(podOf("u2"));
    await node.clock.advance(10_000);
    expect(node.runtime.running().map(({ podUid }) => podUid)).toEqual(["u1"]);
    expect(viewOf(node, "u2")?.phase).toBe("waiting");
    await node.clock.advance(MINUTE);
    expect(node.runtime.running().map(({ podUid }) => podUid)).toEqual(["u2"]);
    expect(viewOf(node, "u2")?.status?.phase).toBe("Running");
    node.kill();
  });

  it("still finds its host port taken by another pod", async () => {
    const source = new SetSource();
    const node = nodeWith(source);
    const other = withHostPort("u2");
    source.set(withHostPort("u1"), { ...other, metadata: { ...other.metadata, name: "other" } });
    node.start();
    await node.clock.advance(5000);
    expect(viewOf(node, "u2")?.status).toMatchObject({ phase: "Failed", reason: "NodePorts" });
    node.kill();
  });
});

describe("a static pod that comes back under its UID", () => {
  /** When the pod comes back, in milliseconds after it went: while its container stops, while things are cleaned up, and after. */
  it.each([0, 1, 500, 19_999, 20_000, 20_001, 20_050, 20_100, 20_200, 25_000])(
    "after %i ms runs again, anew",
    async (afterMs) => {
      const source = new SetSource();
      const node = nodeWith(source, { runtime: { latencyMs: () => 20 } });
      const pod = staticPod(
        { name: "web", uid: "u1" },
        { containers: [{ name: "c", image: IMAGE, command: STUBBORN }] },
      );
      source.set(pod);
      node.start();
      await untilRunning(node);
      const before = node.runtime.running().map(({ id }) => id);
      source.set();
      await node.clock.advance(afterMs);
      source.set(pod);
      await node.clock.advance(MINUTE);
      const running = node.runtime.running();
      expect(running.map(({ podUid }) => podUid)).toEqual(["u1"]);
      expect(before).not.toContain(running[0]?.id);
      expect(viewOf(node, "u1")).toMatchObject({ phase: "syncing", status: { phase: "Running" } });
      expect(node.files.list("/var/lib/kubelet/pods")).toEqual(["u1"]);
      expect(node.files.list("/var/log/pods")).toEqual(["default_web_u1"]);
      expect(node.files.list("/var/log/containers")).toHaveLength(1);
      expect(node.cgroups.paths()).toContain("/kubepods/besteffort/podu1");
      node.kill();
    },
  );

  it("and goes again before it could start leaves nothing", async () => {
    const source = new SetSource();
    const node = nodeWith(source, { runtime: { latencyMs: () => 20 } });
    const pod = staticPod({ name: "web", uid: "u1" }, { containers: [{ name: "c", image: IMAGE, command: STUBBORN }] });
    source.set(pod);
    node.start();
    await untilRunning(node);
    for (const wanted of [[], [pod], [], [pod], []]) {
      source.set(...wanted);
      await node.clock.advance(100);
    }
    await node.clock.advance(2 * MINUTE);
    expect(node.runtime.sandboxes()).toEqual([]);
    expect(node.agent.pods()).toEqual([]);
    node.kill();
  });
});

describe("static pods of one full name", () => {
  it("run one after another, whichever goes first", async () => {
    const source = new SetSource();
    const node = nodeWith(source);
    const [first, second, third] = ["u1", "u2", "u3"].map((uid) =>
      staticPod({ name: "web", uid }, { containers: [{ name: "c", image: IMAGE, command: STUBBORN }] }),
    ) as [Pod, Pod, Pod];
    source.set(first);
    node.start();
    await untilRunning(node);
    source.set(second);
    await node.clock.advance(1000);
    // The one that waits goes, a third comes, and the first comes back while it is being stopped.
    source.set(third);
    await node.clock.advance(1000);
    source.set(first);
    await node.clock.advance(2 * MINUTE);
    expect(node.runtime.running().map(({ podUid }) => podUid)).toEqual(["u1"]);
    expect(node.agent.pods().map(({ pod }) => pod.metadata?.uid)).toEqual(["u1"]);
    expect(node.invariants.violations).toEqual([]);
    node.kill();
  });

  it("that swap their names under given UIDs both run, under the new names", async () => {
    const source = new SetSource();
    const node = nodeWith(source);
    source.set(staticPod({ name: "a", uid: "u1" }), staticPod({ name: "b", uid: "u2" }));
    node.start();
    await untilRunning(node);
    source.set(staticPod({ name: "b", uid: "u1" }), staticPod({ name: "a", uid: "u2" }));
    await node.clock.advance(2 * MINUTE);
    expect(node.files.list("/var/log/pods")).toEqual(["default_a_u2", "default_b_u1"]);
    expect(node.agent.pods().map(({ status }) => status?.phase)).toEqual(["Running", "Running"]);
    node.kill();
  });
});
