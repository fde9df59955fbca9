import type { Clock, Pod, PodSetListener, PodSource, PodSourceName } from "@nodelet/core";
import { InMemoryCgroups } from "../cgroups/in-memory-cgroups.ts";
import { VirtualClock } from "../clock/virtual-clock.ts";
import { FaultPlan } from "../faults/fault-plan.ts";
import { withFaults } from "../faults/with-faults.ts";
import { InMemoryContainerLogs } from "../files/in-memory-container-logs.ts";
import { InMemoryPodFiles } from "../files/in-memory-pod-files.ts";
import { FixedMachine } from "../machine/fixed-machine.ts";
import { StaticHostNetworkFiles } from "../network/static-host-network-files.ts";
import { SeededRandom } from "../random/seeded-random.ts";
import { InMemoryStateStore } from "../state/in-memory-state-store.ts";
import {
  describeCgroupManagerContract,
  describeClockContract,
  describeContainerLogsContract,
  describeHostNetworkFilesContract,
  describeMachineContract,
  describePodFilesContract,
  describePodSourceContract,
  describeStateStoreContract,
} from "./index.ts";

const noFaults = <T extends object>(port: T): T =>
  withFaults(port, new FaultPlan({ clock: new VirtualClock(), random: new SeededRandom() }));

for (const [suffix, decorate] of [
  ["", <T extends object>(port: T) => port],
  [" behind a fault plan without rules", noFaults],
] as const) {
  describePodFilesContract({
    name: `InMemoryPodFiles${suffix}`,
    makeFixture: () => {
      const podFiles = new InMemoryPodFiles();
      const { files } = podFiles;
      return {
        podFiles: decorate(podFiles),
        readFile: async (path) => files.read(path),
        writeFile: async (file) => files.write(file),
        exists: async (path) => files.exists(path),
        mount: async (path) => {
          files.setMounted({ path, mounted: true });
          return async () => files.setMounted({ path, mounted: false });
        },
      };
    },
  });

  describeContainerLogsContract({
    name: `InMemoryContainerLogs${suffix}`,
    makeFixture: () => {
      const logs = new InMemoryContainerLogs();
      const { files } = logs;
      return {
        logs: decorate(logs),
        podLogsDir: "/var/log/pods",
        linksDir: "/var/log/containers",
        writeFile: async (file) => files.write(file),
        exists: async (path) => files.exists(path),
        readLink: async (path) => {
          const node = files.get(path);
          return node?.kind === "link" ? node.target : undefined;
        },
      };
    },
  });

  describeStateStoreContract({
    name: `InMemoryStateStore${suffix}`,
    makeFixture: () => {
      const store = new InMemoryStateStore();
      return { store: decorate(store), reopen: () => decorate(store), damage: async (name) => store.corrupt({ name }) };
    },
  });

  describeCgroupManagerContract({
    name: `InMemoryCgroups${suffix}`,
    makeFixture: () => ({ cgroups: decorate(new InMemoryCgroups()), parent: ["kubepods"] }),
  });

  describeMachineContract({
    name: `FixedMachine${suffix}`,
    makeFixture: () => ({ machine: decorate(new FixedMachine()) }),
  });

  describeHostNetworkFilesContract({
    name: `StaticHostNetworkFiles${suffix}`,
    makeFixture: () => {
      const files = new StaticHostNetworkFiles();
      return {
        files: decorate(files),
        resolvConf: "/etc/resolv.conf",
        absentPath: "/etc/no-such.conf",
        writeResolvConf: async (content) => void files.resolvConfs.set("/etc/resolv.conf", content),
        writeHosts: async (content) => {
          files.hostsFile = content ?? "";
        },
      };
    },
  });
}

describeClockContract({
  name: "VirtualClock",
  makeFixture: () => {
    const clock = new VirtualClock();
    return { clock, pass: (durationMs) => clock.advance(durationMs) };
  },
});

/** The least that a pod source can be: it looks once a second. */
class PollingPodSource implements PodSource {
  readonly name: PodSourceName = "test";
  readonly #clock: Clock;
  desired: readonly Pod[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  run(options: { readonly onPods: PodSetListener; readonly signal: AbortSignal }): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        options.onPods(this.desired);
        timer = this.#clock.setTimer(1_000, look);
      };
      let timer = this.#clock.setTimer(0, look);
      options.signal.addEventListener("abort", () => {
        timer.cancel();
        resolve();
      });
    });
  }
}

const clock = new VirtualClock();
describePodSourceContract({
  name: "a source that polls",
  makeFixture: () => ({
    makeWorld: async () => {
      const source = new PollingPodSource(clock);
      return {
        source,
        setPods: async (names) => {
          source.desired = names.map((name) => ({
            metadata: { name, namespace: "default", uid: `uid-${name}` },
            spec: { containers: [{ name: "app", image: "localhost/busybox:1" }] },
          }));
        },
        namesOf: (pods) => pods.flatMap((pod) => pod.metadata?.name ?? []),
      };
    },
    waitFor: async (condition) => {
      for (let passedMs = 0; !(await condition()); passedMs += 500) {
        if (passedMs > 30_000) throw new Error("the condition did not hold within 30 virtual seconds");
        await clock.advance(500);
      }
    },
  }),
});
