import type { Pod } from "../api/index.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import type { CgroupManager, CgroupName } from "../ports/cgroup-manager.ts";
import type { Logger } from "../ports/logger.ts";
import {
  isCgroupPart,
  kubepodsCgroupName,
  podCgroupName,
  podCgroupResources,
  podUidOfCgroup,
  qosCgroupName,
  qosCgroupResources,
} from "../resources/index.ts";
import type { Removals } from "./removals.ts";

/**
 * The cgroups of pods: made before the sandbox, removed after the last container. With cgroupsPerQos off nothing is made and the runtime puts
 * containers where it likes.
 */
export class PodCgroups {
  readonly #config: AgentConfig;
  readonly #cgroups: CgroupManager;
  readonly #logger: Logger;
  /** Pods whose cgroup this run of the agent has made or found, by UID. */
  readonly #ensured = new Map<string, Pod>();
  /** Shares that were written to the Burstable cgroup last; undefined before the QoS cgroups were made. */
  #burstableShares: bigint | undefined;
  #qosWrite: Promise<void> | undefined;

  constructor(options: {
    readonly config: AgentConfig;
    readonly ports: { readonly cgroups: CgroupManager; readonly logger: Logger };
  }) {
    this.#config = options.config;
    this.#cgroups = options.ports.cgroups;
    this.#logger = options.ports.logger;
  }

  /** How many pods are held. */
  get size(): number {
    return this.#ensured.size;
  }

  /** What the runtime is told as the pod's cgroup parent; undefined without cgroups of our own. */
  parentOf(pod: Pod): string | undefined {
    return this.#config.cgroupsPerQos ? this.#cgroups.parentFor(this.#name(pod)) : undefined;
  }

  /** Makes the pod's cgroup with its limits. */
  async ensure(request: { readonly pod: Pod; readonly signal: AbortSignal }): Promise<void> {
    const { pod, signal } = request;
    const uid = pod.metadata?.uid ?? "";
    if (!this.#config.cgroupsPerQos || this.#ensured.has(uid)) return;
    const resources = podCgroupResources({
      pod,
      cpuCfsQuota: this.#config.cpuCfsQuota,
      cpuPeriodUs: BigInt(this.#config.cpuCfsQuotaPeriodMs) * 1000n,
      podPidsLimit: this.#config.podPidsLimit,
    });
    this.#ensured.set(uid, pod);
    try {
      await this.#refreshQos(signal);
      await this.#cgroups.ensure({ name: this.#name(pod), resources, signal });
    } catch (error) {
      this.#ensured.delete(uid);
      throw error;
    }
  }

  /** Burstable pods together weigh what they requested, BestEffort pods the least; written when it changed. */
  async #refreshQos(signal: AbortSignal): Promise<void> {
    // One write at a time, or an older sum might come last.
    while (this.#qosWrite !== undefined) await this.#qosWrite;
    const { burstable, bestEffort } = qosCgroupResources({ pods: this.#ensured.values() });
    const shares = burstable.cpuShares ?? 0n;
    if (this.#burstableShares === shares) return;
    const { cgroupRoot } = this.#config;
    const write = Promise.all([
      this.#cgroups.ensure({ name: qosCgroupName({ cgroupRoot, qos: "Burstable" }), resources: burstable, signal }),
      this.#cgroups.ensure({ name: qosCgroupName({ cgroupRoot, qos: "BestEffort" }), resources: bestEffort, signal }),
    ]);
    const end = (): void => {
      this.#qosWrite = undefined;
    };
    this.#qosWrite = write.then(end, end);
    await write;
    this.#burstableShares = shares;
  }

  /** Removes the pod's cgroup; what is left in it is killed. */
  async destroy(request: { readonly pod: Pod; readonly signal: AbortSignal }): Promise<void> {
    const { pod, signal } = request;
    if (!this.#config.cgroupsPerQos) return;
    // An orphan's QoS class is not known: its cgroup is looked for in every place.
    if ((pod.spec?.containers ?? []).length === 0) return this.destroyUid({ podUid: pod.metadata?.uid ?? "", signal });
    await this.#cgroups.destroy({ name: this.#name(pod), signal });
    this.#ensured.delete(pod.metadata?.uid ?? "");
  }

  /** The same by UID alone. */
  async destroyUid(request: { readonly podUid: string; readonly signal: AbortSignal }): Promise<void> {
    // An orphan may have any UID; no cgroup of ours is named by one that cannot be a name.
    if (!this.#config.cgroupsPerQos || !isCgroupPart(request.podUid)) return;
    for (const tier of this.#tiers()) {
      const name = [...tier, `pod${request.podUid}`];
      if (await this.#cgroups.exists({ name, signal: request.signal }))
        await this.#cgroups.destroy({ name, signal: request.signal });
    }
    this.#ensured.delete(request.podUid);
  }

  /** Removes cgroups of pods that nobody knows. A cgroup that cannot be removed is told and tried again in the next round. */
  async removeOrphans(request: {
    readonly inUse: (podUid: string) => boolean;
    /** What is being removed, so that a pod that comes back waits for it. */
    readonly removals: Removals;
    readonly signal: AbortSignal;
  }): Promise<void> {
    const { inUse, removals, signal } = request;
    if (!this.#config.cgroupsPerQos) return;
    for (const tier of this.#tiers()) {
      for (const child of await this.#cgroups.children({ name: tier, signal })) {
        const uid = podUidOfCgroup(child);
        if (uid === undefined || inUse(uid)) continue;
        const destroy = (): Promise<void> => this.#cgroups.destroy({ name: [...tier, child], signal });
        await removals.run(uid, destroy).catch((error: unknown) => {
          if (!signal.aborted)
            this.#logger.warn("Removing the cgroup of a pod that is gone failed; the next round tries again", {
              cgroup: child,
              reason: String(error),
            });
        });
      }
    }
    // Pods went meanwhile: what is left weighs less.
    if (this.#burstableShares !== undefined) await this.#refreshQos(signal);
  }

  #name(pod: Pod): CgroupName {
    return podCgroupName({ cgroupRoot: this.#config.cgroupRoot, pod });
  }

  #tiers(): readonly CgroupName[] {
    const { cgroupRoot } = this.#config;
    return [
      kubepodsCgroupName(cgroupRoot),
      qosCgroupName({ cgroupRoot, qos: "Burstable" }),
      qosCgroupName({ cgroupRoot, qos: "BestEffort" }),
    ];
  }
}
