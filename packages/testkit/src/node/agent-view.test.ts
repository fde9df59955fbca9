import { expect, it } from "vitest";
import { SimulatedNode } from "./simulated-node.ts";

/** Phases that an embedder sees in `agent.pods()` whenever it is told of a change, repeats left out. */
async function seenPhases(node: SimulatedNode, act: () => Promise<void>): Promise<(string | undefined)[]> {
  const phases: (string | undefined)[] = [];
  const agent = node.start();
  agent.onPodChange(() => {
    const [view] = agent.pods();
    const phase = view === undefined ? "gone" : view.status?.phase;
    if (phases.at(-1) !== phase) phases.push(phase);
  });
  await act();
  return phases;
}

it("shows no phase again that a pod has left, to its very end", async () => {
  const node = new SimulatedNode();
  node.images.add("localhost/app:1");
  node.pods.apply({
    metadata: { name: "web" },
    spec: { containers: [{ name: "app", image: "localhost/app:1", command: ["server"] }] },
  });
  const phases = await seenPhases(node, async () => {
    await node.untilPods(({ status }) => status?.phase === "Running", { limitMs: 60_000 });
    node.pods.delete({ name: "web" });
    await node.clock.runUntil(() => node.agent.pods().length === 0, { limitMs: 60_000 });
  });
  // The server ends with 143 when it is told to: the pod has failed by the API's rules when it is gone.
  expect(phases).toEqual(["Pending", "Running", "Failed", "gone"]);
});
