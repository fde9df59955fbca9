import {
  type Agent,
  type AgentConfig,
  type AgentPorts,
  createAgent,
  defaultAgentConfig,
  type MachineInfo,
  type PodSource,
  type PodView,
  ProgrammaticPodSource,
} from "@nodelet/core";
import type { InMemoryCgroups } from "../cgroups/in-memory-cgroups.ts";
import { VirtualClock } from "../clock/virtual-clock.ts";
import type { InMemoryContainerLogs } from "../files/in-memory-container-logs.ts";
import { InMemoryHostFiles } from "../files/in-memory-host-files.ts";
import type { InMemoryPodFiles } from "../files/in-memory-pod-files.ts";
import type { InMemoryImages, InMemoryImagesOptions } from "../images/in-memory-images.ts";
import type { MemoryLogger } from "../logging/memory-logger.ts";
import type { InMemoryObjects } from "../objects/in-memory-objects.ts";
import { type Seed, SeededRandom } from "../random/seeded-random.ts";
import type { InMemoryRuntime } from "../runtime/in-memory-runtime.ts";
import { RuntimeInvariants } from "../runtime/runtime-invariants.ts";
import type { InMemoryRuntimeOptions } from "../runtime/runtime-options.ts";
import type { RecordingEventSink } from "../sinks/recording-event-sink.ts";
import type { InMemoryStateStore } from "../state/in-memory-state-store.ts";
import { inMemoryPorts } from "./in-memory-ports.ts";
import { type Life, portOfLife, portsOfLife } from "./severed-ports.ts";

/** How a SimulatedNode is made. Everything has a default. */
export interface SimulatedNodeOptions {
  readonly seed?: Seed;
  readonly nodeName?: string;
  readonly config?: Partial<AgentConfig>;
  readonly machine?: Partial<MachineInfo>;
  readonly runtime?: Partial<Omit<InMemoryRuntimeOptions, "clock" | "random">>;
  readonly images?: Omit<InMemoryImagesOptions, "clock" | "random">;
  /** Lays something between the agent and its ports, for example faults. Called for each life of the agent. */
  readonly decorate?: (ports: AgentPorts) => AgentPorts;
  /** Beside the programmatic source. */
  readonly sources?: readonly PodSource[];
}

/**
 * A whole node in memory under a virtual clock: machine, runtime, files and one agent that can be started, stopped, killed and started again
 * while the world stays. The same seed and the same calls give the same run.
 */
export class SimulatedNode {
  readonly clock = new VirtualClock();
  readonly random: SeededRandom;
  readonly files = new InMemoryHostFiles();
  readonly images: InMemoryImages;
  readonly runtime: InMemoryRuntime;
  readonly invariants: RuntimeInvariants;
  readonly podFiles: InMemoryPodFiles;
  readonly containerLogs: InMemoryContainerLogs;
  readonly state: InMemoryStateStore;
  readonly cgroups: InMemoryCgroups;
  readonly objects: InMemoryObjects;
  readonly events: RecordingEventSink;
  readonly logger: MemoryLogger;
  /** Where pods are asked for. */
  readonly pods: ProgrammaticPodSource;
  readonly #options: SimulatedNodeOptions;
  readonly #ports: AgentPorts;
  readonly #config: AgentConfig;
  #agent: Agent | undefined;
  #life: Life = { dead: true };
  #stop = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(options: SimulatedNodeOptions = {}) {
    const nodeName = options.nodeName ?? "node-1";
    this.#options = options;
    this.#config = { ...defaultAgentConfig(nodeName), ...options.config };
    this.random = new SeededRandom(options.seed ?? 1);
    const ports = inMemoryPorts({ ...options, clock: this.clock, random: this.random, files: this.files });
    this.images = ports.images;
    this.runtime = ports.runtime;
    this.podFiles = ports.podFiles;
    this.containerLogs = ports.containerLogs;
    this.state = ports.state;
    this.cgroups = ports.cgroups;
    this.objects = ports.objects;
    this.events = ports.events;
    this.logger = ports.logger;
    this.invariants = new RuntimeInvariants(this.runtime);
    this.pods = new ProgrammaticPodSource({ clock: this.clock, random: this.random.fork("pods"), nodeName });
    this.#ports = { ...ports, statusSink: this.pods.statusSink };
  }

  /** The agent that lives now. */
  get agent(): Agent {
    if (this.#agent === undefined) throw new Error("the node's agent was not started");
    return this.#agent;
  }

  get running(): boolean {
    return !this.#life.dead;
  }

  /** Starts an agent on what is there. */
  start(): Agent {
    if (this.running) throw new Error("the node's agent runs already");
    const life: Life = { dead: false };
    const decorate = this.#options.decorate ?? ((ports) => ports);
    const sources = [this.pods, ...(this.#options.sources ?? [])].map((source) => sourceOfLife(source, life));
    // Severed on both sides of the decoration: what it held back for a dead process is never made.
    const ports = portsOfLife(decorate(portsOfLife(this.#ports, life)), life);
    const agent = createAgent({ config: this.#config, ports, sources });
    this.#life = life;
    this.#stop = new AbortController();
    this.#agent = agent;
    this.#ended = agent.run(this.#stop.signal);
    this.#ended.catch(() => undefined);
    return agent;
  }

  /** kill -9: from this instant nothing of the agent reaches the world. */
  kill(): void {
    this.#life.dead = true;
  }

  /** SIGTERM: the agent ends by itself; its pods run on. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.clock.drive(this.#ended);
    this.#life.dead = true;
  }

  /** Moves time until every desired pod satisfies `predicate`. */
  async untilPods(
    predicate: (view: PodView) => boolean,
    options: { readonly limitMs: number; readonly what?: string },
  ): Promise<number> {
    return this.clock.runUntil(() => this.agent.pods().length > 0 && this.agent.pods().every(predicate), options);
  }
}

/** A source as one process listens to it: after its death no set reaches it, and the source forgets it. */
function sourceOfLife(source: PodSource, life: Life): PodSource {
  return portOfLife(
    {
      name: source.name,
      run: (options: Parameters<PodSource["run"]>[0]) =>
        source.run({
          ...options,
          onPods: (pods) => {
            if (!life.dead) options.onPods(pods);
          },
        }),
    },
    life,
  );
}
