import { expect, it } from "vitest";
import { FaultPlan } from "../faults/fault-plan.ts";
import { withFaults } from "../faults/with-faults.ts";
import { SeededRandom } from "../random/seeded-random.ts";
import { IMAGE, nodeWith, SetSource, staticPod } from "./set-source.test-support.ts";

/** Whatever a sync did must be seen before the next one plans: else it would do it again, and two containers of one name would run. */
it.each([
  ["hangs", { kind: "hang" }],
  ["fails", { kind: "error", error: "internal" }],
] as const)("a pod is not started twice when the look after its start %s", async (_, fault) => {
  const source = new SetSource();
  const plans: FaultPlan[] = [];
  const node = nodeWith(source, {
    decorate: (ports) => {
      const plan = new FaultPlan({ clock: ports.clock, random: new SeededRandom(1) });
      plans.push(plan);
      return { ...ports, runtime: withFaults(ports.runtime, plan) };
    },
  });
  node.images.offer("localhost/far:1");
  const hang = node.images.hang({ calls: ["pullImage"] });
  const containers = [
    { name: "a", image: "localhost/far:1", command: ["server"] },
    { name: "b", image: IMAGE, command: ["/no/such"] },
  ];
  source.set(staticPod({ name: "web", uid: "u1" }, { containers }));
  node.start();
  // The sandbox was seen; of the containers nothing will be for a while.
  await node.clock.advance(20_000);
  plans[0]?.add({ calls: ["containerStatus"], fault });
  hang.release();
  await node.clock.advance(10 * 60_000);
  plans[0]?.clear();
  await node.clock.advance(10 * 60_000);
  expect(node.runtime.running().map(({ metadata }) => metadata.name)).toEqual(["a"]);
  expect(node.invariants.violations).toEqual([]);
  node.kill();
});
