import type { Pod, PodStatus } from "../api/index.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import type { DecisionLog } from "../decisions/decision-log.ts";
import type { CgroupManager } from "../ports/cgroup-manager.ts";
import type { Clock } from "../ports/clock.ts";
import type { EventSink } from "../ports/event-sink.ts";
import type { HostNetworkFiles } from "../ports/host-network.ts";
import type { ImageService } from "../ports/image-service.ts";
import type { Logger } from "../ports/logger.ts";
import type { Machine } from "../ports/machine.ts";
import type { ObjectSource } from "../ports/object-source.ts";
import type { ContainerLogs, PodFiles } from "../ports/pod-files.ts";
import type { PodSource } from "../ports/pod-source.ts";
import type { PodStatusSink } from "../ports/pod-status-sink.ts";
import type { Random } from "../ports/random.ts";
import type { RuntimeService } from "../ports/runtime-service.ts";
import type { StateStore } from "../ports/state-store.ts";

/** Everything that an agent touches the world through. */
export interface AgentPorts {
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  readonly podFiles: PodFiles;
  readonly containerLogs: ContainerLogs;
  readonly state: StateStore;
  readonly cgroups: CgroupManager;
  readonly hostNetwork: HostNetworkFiles;
  readonly machine: Machine;
  readonly objects: ObjectSource;
  readonly events: EventSink;
  readonly statusSink: PodStatusSink;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** What an agent is made from. */
export interface AgentOptions {
  readonly config: AgentConfig;
  readonly ports: AgentPorts;
  /** Where desired pods come from. Without any, the agent cleans up what it made before and waits. */
  readonly sources: readonly PodSource[];
}

/** A pod as the agent has it now: the desired object with the status that was last computed. */
export interface PodView {
  readonly pod: Pod;
  readonly status: PodStatus | undefined;
  readonly phase: "rejected" | "waiting" | "syncing" | "terminating" | "terminated" | "finished" | "pending";
}

/** What is well and what is not. */
export interface AgentHealth {
  /** Why pods cannot be handled now; empty when they can. */
  readonly runtimeErrors: readonly string[];
  readonly networkError: string | undefined;
  readonly syncLoop: boolean;
  readonly runtime: { readonly name: string; readonly version: string } | undefined;
}

/** A node agent. Nothing is shared between two of them. */
export interface Agent {
  /** Resolves once the runtime was looked at, every source reported and the first pods were handed to their workers. */
  readonly ready: Promise<void>;
  /** Resolves after `run` ended, rejects with what ended it. */
  readonly done: Promise<void>;
  /**
   * Runs until the signal fires. Pods go on running then: a stop is not a drain. Rejects when the agent cannot work at all (its own state
   * directory is unreadable, the machine cannot be read). May be called once.
   */
  run(signal: AbortSignal): Promise<void>;
  readonly config: AgentConfig;
  readonly decisions: DecisionLog;
  pods(): readonly PodView[];
  /** Calls `listener` with the pod's UID whenever its status changed; answers the way to stop it. */
  onPodChange(listener: (podUid: string) => void): () => void;
  health(): AgentHealth;
  /** How many entries about pods each part holds, by the part's name: all 0 some time after the last pod went. For finding leaks. */
  bookkeeping(): Readonly<Record<string, number>>;
}
