import { inspect } from "node:util";
import type { Clock, Pod, PodSource, PodSourceName, PodSourceRun } from "@nodelet/core";
import { InMemoryCgroups } from "../cgroups/in-memory-cgroups.ts";
import { VirtualClock } from "../clock/virtual-clock.ts";
import { drivenBy } from "../faults/driven-by.ts";
import { FaultPlan } from "../faults/fault-plan.ts";
import { withFaults } from "../faults/with-faults.ts";
import { InMemoryContainerLogs } from "../files/in-memory-container-logs.ts";
import { InMemoryPodFiles } from "../files/in-memory-pod-files.ts";
import { InMemoryHttpFetch } from "../http/in-memory-http-fetch.ts";
import { MemoryLogger } from "../logging/memory-logger.ts";
import { FixedMachine } from "../machine/fixed-machine.ts";
import { InMemoryDirectoryWatch } from "../manifests/in-memory-directory-watch.ts";
import { StaticHostNetworkFiles } from "../network/static-host-network-files.ts";
import { InMemoryObjects } from "../objects/in-memory-objects.ts";
import { SeededRandom } from "../random/seeded-random.ts";
import { RecordingStatusSink } from "../sinks/recording-status-sink.ts";
import { InMemoryStateStore } from "../state/in-memory-state-store.ts";
import {
  describeCgroupManagerContract,
  describeClockContract,
  describeContainerLogsContract,
  describeDirectoryWatchContract,
  describeHostNetworkFilesContract,
  describeHttpFetchContract,
  describeLoggerContract,
  describeMachineContract,
  describeObjectSourceContract,
  describePodFilesContract,
  describePodSourceContract,
  describePodStatusSinkContract,
  describeRandomContract,
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

describeRandomContract({ name: "SeededRandom", makeFixture: () => ({ random: new SeededRandom("contract") }) });

describeLoggerContract({
  name: "MemoryLogger",
  makeFixture: () => {
    const logger = new MemoryLogger({ verbosity: 4 });
    let seen = 0;
    return {
      logger,
      takeText: async () => {
        const fresh = logger.records.slice(seen);
        seen = logger.records.length;
        return inspect(fresh, { depth: 5 });
      },
    };
  },
});

describePodStatusSinkContract({
  name: "RecordingStatusSink",
  makeFixture: () => {
    const sink = new RecordingStatusSink();
    let count = 0;
    return {
      sink,
      makePod: async () => ({ metadata: { name: `pod-${(count += 1)}`, namespace: "default", uid: `uid-${count}` } }),
      statusOf: async (pod) => sink.last(pod.metadata?.uid ?? ""),
    };
  },
});

describeObjectSourceContract({
  name: "InMemoryObjects",
  makeFixture: () => {
    const configMap = { namespace: "default", name: "settings", data: { one: "1" } };
    const secret = { namespace: "default", name: "password", data: { two: "2" } };
    const service = {
      namespace: "default",
      name: "web",
      clusterIp: "192.0.2.1",
      ports: [{ port: 80, protocol: "TCP" }],
    };
    const runtimeClass = { name: "heavy", handler: "kata" };
    const objects = new InMemoryObjects({
      configMaps: [configMap],
      secrets: [secret],
      services: [service],
      runtimeClasses: [runtimeClass],
    });
    return { objects, configMap, secret, service, runtimeClass };
  },
});

describeDirectoryWatchContract({
  name: "InMemoryDirectoryWatch",
  makeFixture: () => {
    const watchClock = new VirtualClock();
    const watch = new InMemoryDirectoryWatch({ clock: watchClock });
    let count = 0;
    return {
      watch,
      makePlace: async () => {
        const path = `/etc/manifests-${(count += 1)}`;
        watch.makeDirectory(path);
        return {
          path,
          write: async (file) => watch.write({ path, ...file }),
          remove: async (name) => watch.remove({ path, name }),
        };
      },
      makeFile: async (content) => {
        const path = `/etc/pod-${(count += 1)}.yaml`;
        watch.writeFile({ path, content });
        return path;
      },
      absentPath: "/etc/no-such",
      waitFor: async (condition) => {
        for (let turn = 0; !(await condition()); turn += 1) {
          if (turn > 300) throw new Error("the condition did not hold within 30 virtual seconds");
          await watchClock.advance(100);
        }
      },
    };
  },
});

describeHttpFetchContract({
  name: "InMemoryHttpFetch",
  makeFixture: () => {
    const httpClock = new VirtualClock();
    const fetch = new InMemoryHttpFetch({ clock: httpClock });
    let count = 0;
    return {
      fetch: drivenBy(fetch, { clock: httpClock }),
      serve: async (handler) => {
        const origin = `http://host-${(count += 1)}.example`;
        fetch.serve({ origin, handler });
        return origin;
      },
      refusingUrl: "http://nobody.example/",
    };
  },
});

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

  run(options: PodSourceRun): Promise<void> {
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
