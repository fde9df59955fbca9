import { ProgrammaticPodSource } from "@nodelet/core";
import { VirtualClock } from "../clock/virtual-clock.ts";
import { SeededRandom } from "../random/seeded-random.ts";
import { describePodSourceContract, describePodStatusSinkContract } from "./index.ts";

const newSource = () =>
  new ProgrammaticPodSource({ clock: new VirtualClock(), random: new SeededRandom("core"), nodeName: "node-1" });

const podOf = (name: string) => ({
  metadata: { name, namespace: "default" },
  spec: { containers: [{ name: "app", image: "localhost/busybox:1" }] },
});

describePodSourceContract({
  name: "ProgrammaticPodSource",
  makeFixture: () => ({
    makeWorld: async () => {
      const source = newSource();
      let present = new Set<string>();
      return {
        source,
        setPods: async (names) => {
          for (const name of present) if (!names.includes(name)) source.delete({ name, force: true });
          for (const name of names) if (!present.has(name)) source.apply(podOf(name));
          present = new Set(names);
        },
        namesOf: (pods) => pods.flatMap((pod) => pod.metadata?.name ?? []),
      };
    },
    waitFor: async (condition) => {
      for (let turn = 0; !(await condition()); turn += 1) {
        if (turn > 100) throw new Error("the condition did not hold");
        await new VirtualClock().settle();
      }
    },
  }),
});

describePodStatusSinkContract({
  name: "the status sink of a ProgrammaticPodSource",
  makeFixture: () => {
    const source = newSource();
    let count = 0;
    return {
      sink: source.statusSink,
      makePod: async () => source.apply(podOf(`pod-${(count += 1)}`)),
      statusOf: async (pod) => source.get({ name: pod.metadata?.name ?? "" })?.status,
    };
  },
});
