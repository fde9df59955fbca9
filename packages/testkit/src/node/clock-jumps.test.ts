import { describe, expect, it } from "vitest";
import { callsOf, nodeWith, SetSource, staticPod, untilRunning } from "./set-source.test-support.ts";

const HOUR = 3_600_000;

describe("a wall clock that is set", () => {
  it.each([-HOUR, HOUR])("by %i ms leaves what replaced a crashed container running", async (jumpMs) => {
    const source = new SetSource();
    const node = nodeWith(source, { runtime: { latencyMs: () => 5 } });
    source.set(staticPod({ name: "web", uid: "u1" }));
    node.start();
    await untilRunning(node);
    node.clock.jumpWall(jumpMs);
    node.runtime.endContainer({ containerId: node.runtime.running()[0]?.id ?? "", exitCode: 1 });
    await node.clock.advance(10 * 60_000);
    expect(callsOf(node).filter((call) => call === "startContainer" || call === "stopContainer")).toEqual([
      "startContainer",
      "startContainer",
    ]);
    expect(node.runtime.running().map(({ metadata }) => metadata.attempt)).toEqual([1]);
    node.kill();
  });
});
