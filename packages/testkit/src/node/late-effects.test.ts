import { describe, expect, it } from "vitest";
import { IMAGE, nodeWith, SetSource, staticPod, viewOf } from "./set-source.test-support.ts";

const MINUTE = 60_000;

it("a sandbox whose network takes three minutes is waited for", async () => {
  const source = new SetSource();
  const node = nodeWith(source);
  source.set(staticPod({ name: "web", uid: "u1" }));
  node.runtime.hang({ calls: ["runSandbox"], forMs: 3 * MINUTE, times: 1 });
  node.start();
  await node.clock.advance(3 * MINUTE + 1000);
  expect(viewOf(node, "u1")?.status?.phase).toBe("Running");
  expect(node.runtime.sandboxes().map(({ metadata }) => metadata.attempt)).toEqual([0]);
  node.kill();
});

describe("a call that takes effect long after it was given up", () => {
  it("brings back no sandbox of a pod that is over", async () => {
    const source = new SetSource();
    const node = nodeWith(source);
    source.set(staticPod({ name: "web", uid: "u1" }, { activeDeadlineSeconds: 5 }));
    node.runtime.hang({ calls: ["runSandbox"], forMs: 10 * MINUTE, times: 1 });
    node.start();
    await node.clock.advance(9 * MINUTE);
    expect(viewOf(node, "u1")).toMatchObject({ phase: "finished", status: { phase: "Failed" } });
    await node.clock.advance(2 * MINUTE);
    expect(node.runtime.sandboxes().filter(({ state }) => state === "SANDBOX_READY")).toEqual([]);
    expect(node.runtime.ipsTaken).toBe(0);
    node.kill();
  });

  it("starts no container of a pod that is over", async () => {
    const source = new SetSource();
    const node = nodeWith(source);
    const containers = [
      { name: "a", image: IMAGE, command: ["server"] },
      { name: "b", image: IMAGE, command: ["server"] },
    ];
    source.set(staticPod({ name: "web", uid: "u1" }, { activeDeadlineSeconds: 5, containers }));
    node.runtime.hang({ calls: ["startContainer"], forMs: 10 * MINUTE, times: 1 });
    node.start();
    await node.clock.advance(15 * MINUTE);
    expect(viewOf(node, "u1")).toMatchObject({ phase: "finished", status: { phase: "Failed" } });
    expect(node.runtime.running()).toEqual([]);
    expect(node.runtime.ipsTaken).toBe(0);
    node.kill();
  });
});
