import type { AgentPorts, Clock, MachineInfo } from "@nodelet/core";
import { InMemoryCgroups } from "../cgroups/in-memory-cgroups.ts";
import { InMemoryContainerLogs } from "../files/in-memory-container-logs.ts";
import { InMemoryHostFiles } from "../files/in-memory-host-files.ts";
import { InMemoryPodFiles } from "../files/in-memory-pod-files.ts";
import { InMemoryImages, type InMemoryImagesOptions } from "../images/in-memory-images.ts";
import { MemoryLogger } from "../logging/memory-logger.ts";
import { FixedMachine } from "../machine/fixed-machine.ts";
import { StaticHostNetworkFiles } from "../network/static-host-network-files.ts";
import { InMemoryObjects } from "../objects/in-memory-objects.ts";
import { SeededRandom } from "../random/seeded-random.ts";
import { InMemoryRuntime } from "../runtime/in-memory-runtime.ts";
import type { InMemoryRuntimeOptions } from "../runtime/runtime-options.ts";
import { RecordingEventSink } from "../sinks/recording-event-sink.ts";
import { RecordingStatusSink } from "../sinks/recording-status-sink.ts";
import { InMemoryStateStore } from "../state/in-memory-state-store.ts";

/** How the world of an agent begins. Only the clock is needed: a `VirtualClock`, or a real one. */
export interface InMemoryPortsOptions {
  readonly clock: Clock;
  /** Seeded with 1 when absent. Each part draws from a fork of its own. */
  readonly random?: SeededRandom;
  readonly images?: Omit<InMemoryImagesOptions, "clock" | "random">;
  /** `images`, `output`, `clock` and `random` are given by the other ports. */
  readonly runtime?: Partial<Omit<InMemoryRuntimeOptions, "clock" | "random">>;
  readonly machine?: Partial<MachineInfo>;
  /** Where pod directories and logs lie; an empty tree when absent. */
  readonly files?: InMemoryHostFiles;
}

/** Every port of an agent, in memory, with the methods that a test holds the other end by. */
export interface InMemoryPorts extends AgentPorts {
  readonly runtime: InMemoryRuntime;
  readonly images: InMemoryImages;
  readonly podFiles: InMemoryPodFiles;
  readonly containerLogs: InMemoryContainerLogs;
  readonly state: InMemoryStateStore;
  readonly cgroups: InMemoryCgroups;
  readonly hostNetwork: StaticHostNetworkFiles;
  readonly machine: FixedMachine;
  readonly objects: InMemoryObjects;
  readonly events: RecordingEventSink;
  readonly statusSink: RecordingStatusSink;
  readonly random: SeededRandom;
  readonly logger: MemoryLogger;
}

/** A whole world for one agent: replace what you have an implementation of, `{ ...inMemoryPorts({ clock }), runtime }`. */
export function inMemoryPorts(options: InMemoryPortsOptions): InMemoryPorts {
  const { clock, random = new SeededRandom(1), files = new InMemoryHostFiles() } = options;
  const images = new InMemoryImages({ ...options.images, clock, random: random.fork("images") });
  return {
    images,
    runtime: new InMemoryRuntime({
      output: files,
      images,
      ...options.runtime,
      clock,
      random: random.fork("runtime"),
    }),
    podFiles: new InMemoryPodFiles({ files, random: random.fork("pod files") }),
    containerLogs: new InMemoryContainerLogs({ files }),
    state: new InMemoryStateStore(),
    cgroups: new InMemoryCgroups(),
    hostNetwork: new StaticHostNetworkFiles(),
    machine: new FixedMachine(options.machine),
    objects: new InMemoryObjects(),
    events: new RecordingEventSink(),
    statusSink: new RecordingStatusSink({ clock }),
    clock,
    random: random.fork("agent"),
    logger: new MemoryLogger({ verbosity: 4 }),
  };
}
