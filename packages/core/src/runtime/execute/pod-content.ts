import type { Pod } from "../../api/index.ts";
import { podContainers } from "../../api/index.ts";
import { withDeadline } from "../../async/delay.ts";
import type { AgentConfig } from "../../config/agent-config.ts";
import type { PodRef } from "../../decisions/decision.ts";
import { isErrorOfKind } from "../../errors/nodelet-error.ts";
import { identityFault } from "../../pods/validation/index.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { ContainerLogs, PodFiles, PodFilesRef } from "../../ports/pod-files.ts";
import type { RuntimeService } from "../../ports/runtime-service.ts";
import { newestInstance, type ObservedPod, type ObservedSandbox } from "../observed-pod.ts";
import { selectDeadContainers, selectGarbage } from "../plan/index.ts";
import { removeLogOfDead, unlinkLog } from "./container-log-files.ts";

/** The adapter's own deadline comes first by this much. */
const SPARE_MS = 5000;

/** The ports through which content is removed. */
export interface PodContentPorts {
  readonly runtime: RuntimeService;
  readonly podFiles: PodFiles;
  readonly containerLogs: ContainerLogs;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * What a pod leaves in the runtime and on disk: dead containers, sandboxes, logs, directories. Every removal is idempotent, so an interrupted
 * one is simply done again.
 */
export class PodContent {
  readonly #config: AgentConfig;
  readonly #ports: PodContentPorts;

  constructor(options: { readonly config: AgentConfig; readonly ports: PodContentPorts }) {
    this.#config = options.config;
    this.#ports = options.ports;
  }

  /** Highest attempt in the log directory for containers of which no instance is left: restart counts never go down. */
  async highestLogAttempts(request: {
    readonly pod: Pod;
    readonly observed: ObservedPod;
    readonly signal: AbortSignal;
  }): Promise<ReadonlyMap<string, number>> {
    const { pod, observed, signal } = request;
    const attempts = new Map<string, number>();
    // A pod that nothing was ever made of has no logs to look for.
    const missing = [...podContainers(pod)].filter(
      ({ container }) => newestInstance(observed, container.name) === undefined,
    );
    await Promise.all(
      missing.map(async ({ container }) => {
        const attempt = await this.#ports.containerLogs.highestAttempt({
          ...filesRef(pod),
          containerName: container.name,
          signal,
        });
        if (attempt !== undefined) attempts.set(container.name, attempt);
      }),
    );
    return attempts;
  }

  /**
   * Removes dead instances of a live pod beyond the newest few of each container; answers whether there were any. Failures are left to the next
   * round.
   */
  async pruneDeadContainers(request: {
    readonly observed: ObservedPod;
    readonly signal: AbortSignal;
  }): Promise<boolean> {
    const { observed, signal } = request;
    const ids = selectDeadContainers({
      observed,
      keepPerContainer: Math.max(this.#config.maxPerPodContainerCount, 1),
      minimumAgeMs: this.#config.minimumGcAgeMs,
      nowMs: this.#ports.clock.nowMs(),
    });
    for (const containerId of ids) await this.#removeDead({ containerId, pods: [observed], signal });
    return ids.length > 0;
  }

  /** The garbage round over all pods. `removable`: pods whose whole content may go. */
  async collectGarbage(request: {
    readonly pods: readonly ObservedPod[];
    readonly live: (podUid: string) => boolean;
    readonly removable: (podUid: string) => boolean;
    readonly signal: AbortSignal;
  }): Promise<void> {
    const { pods, live, removable, signal } = request;
    const garbage = selectGarbage({
      pods,
      live,
      removable,
      config: {
        maxPerPodContainer: this.#config.maxPerPodContainerCount,
        maxContainers: this.#config.maxContainerCount,
        minimumAgeMs: this.#config.minimumGcAgeMs,
      },
      nowMs: this.#ports.clock.nowMs(),
    });
    for (const containerId of garbage.containerIds) await this.#removeDead({ containerId, pods, signal });
    for (const sandboxId of garbage.sandboxIds) {
      await this.#removeSandbox(sandboxId, signal).catch((error: unknown) =>
        this.#tellFailed({ sandboxID: sandboxId }, error, signal),
      );
    }
  }

  /** Removes everything of a stopped pod: containers, sandboxes, logs with their links, directories. */
  async remove(request: {
    readonly ref: PodRef;
    readonly observed: ObservedPod;
    readonly signal: AbortSignal;
  }): Promise<void> {
    const { ref, observed, signal } = request;
    const { podFiles, containerLogs } = this.#ports;
    await Promise.all(observed.containers.map(({ id }) => this.#removeContainer(id, signal)));
    await Promise.all(observed.sandboxes.map((sandbox) => this.#removeStopped(sandbox, signal)));
    // Somebody else's pod may have any name; nothing on disk is named by one that cannot be a name.
    if (identityFault(ref) !== undefined) return;
    const files: PodFilesRef = { podUid: ref.uid, podName: ref.name, podNamespace: ref.namespace };
    await containerLogs.removePodLogs({ ...files, signal });
    await Promise.all(observed.containers.map((container) => unlinkLog({ ref, container, containerLogs, signal })));
    try {
      await podFiles.removePod({ podUid: ref.uid, signal });
    } catch (error) {
      // Something is still mounted under it: housekeeping goes on trying, and tells.
      if (!isErrorOfKind(error, "conflict")) throw error;
    }
  }

  /** With its link and log. What fails is told and left to the next round. */
  async #removeDead(request: {
    readonly containerId: string;
    readonly pods: readonly ObservedPod[];
    readonly signal: AbortSignal;
  }): Promise<void> {
    const { containerId, pods, signal } = request;
    const { containerLogs } = this.#ports;
    try {
      for (const observed of pods) {
        const container = observed.containers.find(({ id }) => id === containerId);
        if (container !== undefined) await removeLogOfDead({ observed, container, containerLogs, signal });
      }
      await this.#removeContainer(containerId, signal);
    } catch (error) {
      this.#tellFailed({ containerID: containerId }, error, signal);
    }
  }

  #removeContainer(containerId: string, parent: AbortSignal): Promise<void> {
    const { runtime } = this.#ports;
    return this.#timed("RemoveContainer", parent, (signal) => runtime.removeContainer({ containerId, signal }));
  }

  /** A sandbox that was stopped with its pod goes at once; one that ended by itself may hold its network, and is refused. */
  async #removeStopped({ id, ready }: ObservedSandbox, parent: AbortSignal): Promise<void> {
    const { runtime } = this.#ports;
    if (ready) return this.#removeSandbox(id, parent);
    try {
      await this.#timed("RemovePodSandbox", parent, (signal) => runtime.removeSandbox({ sandboxId: id, signal }));
    } catch {
      await this.#removeSandbox(id, parent);
    }
  }

  async #removeSandbox(sandboxId: string, parent: AbortSignal): Promise<void> {
    const { runtime } = this.#ports;
    await this.#timed("StopPodSandbox", parent, (signal) => runtime.stopSandbox({ sandboxId, signal }));
    await this.#timed("RemovePodSandbox", parent, (signal) => runtime.removeSandbox({ sandboxId, signal }));
  }

  /** A call with a deadline that holds even if the adapter keeps none. */
  #timed<T>(what: string, parent: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const timeoutMs = this.#config.runtimeRequestTimeoutMs + SPARE_MS;
    return withDeadline({ clock: this.#ports.clock, timeoutMs, what, parent }, work);
  }

  #tellFailed(what: Readonly<Record<string, string>>, error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    const fields = { ...what, reason: String(error) };
    this.#ports.logger.warn("Removing something dead failed; the next round tries again", fields);
  }
}

function filesRef(pod: Pod): PodFilesRef {
  const { uid = "", name = "", namespace = "" } = pod.metadata ?? {};
  return { podUid: uid, podName: name, podNamespace: namespace };
}
