import type { Pod } from "../api/index.ts";
import { delay } from "../async/delay.ts";
import { isErrorOfKind } from "../errors/nodelet-error.ts";
import type { CgroupManager } from "../ports/cgroup-manager.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { ContainerLogs, PodFiles } from "../ports/pod-files.ts";
import { restoreLinks } from "../runtime/execute/container-log-files.ts";
import type { ObservedPod } from "../runtime/observed-pod.ts";
import type { Observer } from "../runtime/observer.ts";
import type { Ownership } from "./ownership.ts";
import type { PodCgroups } from "./pod-cgroups.ts";
import type { PodWorkers } from "./pod-workers.ts";
import type { Removals } from "./removals.ts";

/** Upstream's housekeeping period, and how often the disk is gone through when nothing asked for it. */
const PERIOD_MS = 2000;
const DISK_PERIOD_MS = 60_000;

/** What housekeeping looks at and works through. */
export interface HousekeepingOptions {
  readonly ports: {
    readonly clock: Clock;
    readonly logger: Logger;
    readonly podFiles: PodFiles;
    readonly containerLogs: ContainerLogs;
    readonly cgroups: CgroupManager;
  };
  readonly observer: Observer;
  readonly workers: PodWorkers;
  readonly ownership: Ownership;
  readonly podCgroups: PodCgroups;
  readonly removals: Removals;
  /** Every pod that a source wants. */
  readonly desired: () => readonly Pod[];
  /** True when what is unknown may be removed: every source reported, the runtime answers, and no news of the sources waits. */
  readonly mayAct: () => boolean;
  /** Hands a desired pod without worker to a worker again, unless it was rejected. */
  readonly restart: (pod: Pod) => void;
  /** Removes dead containers beyond what is kept; called once a minute. */
  readonly collectGarbage: (signal: AbortSignal) => Promise<void>;
}

/**
 * Finds what no worker looks after: pods in the runtime that no source wants, wanted pods without a worker, and what is left on disk and in
 * the cgroup tree of pods that are gone.
 */
export class Housekeeping {
  readonly #options: HousekeepingOptions;
  #diskDueMs = 0;
  #garbageDueMs: number;
  #told = "";
  readonly #linked = new Set<string>();

  constructor(options: HousekeepingOptions) {
    this.#options = options;
    this.#garbageDueMs = options.ports.clock.monotonicMs() + DISK_PERIOD_MS;
  }

  /** Goes through the disk in the next round. */
  diskSoon(): void {
    this.#diskDueMs = 0;
  }

  /** Rounds until the signal fires. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options.ports;
    while (!signal.aborted) {
      await delay(clock, PERIOD_MS, signal);
      if (signal.aborted) return;
      if (!this.#options.mayAct()) continue;
      try {
        await this.#round(signal);
      } catch (error) {
        if (!signal.aborted) logger.error("Housekeeping failed; the next round tries again", { err: error });
      }
    }
  }

  async #round(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options.ports;
    const desired = new Map(this.#options.desired().map((pod) => [pod.metadata?.uid ?? "", pod]));
    this.#stopOrphans(desired);
    for (const [uid, pod] of desired) if (this.#options.workers.get(uid) === undefined) this.#options.restart(pod);
    const nowMs = clock.monotonicMs();
    if (nowMs >= this.#diskDueMs) {
      this.#diskDueMs = nowMs + DISK_PERIOD_MS;
      await this.#cleanDisk(desired, signal);
    }
    await this.#restoreLinks(signal);
    if (nowMs >= this.#garbageDueMs) {
      this.#garbageDueMs = nowMs + DISK_PERIOD_MS;
      await this.#options.collectGarbage(signal);
    }
  }

  #stopOrphans(desired: ReadonlyMap<string, Pod>): void {
    const { observer, workers, ownership } = this.#options;
    for (const observed of observer.all()) {
      if (desired.has(observed.uid) || workers.get(observed.uid) !== undefined) continue;
      if (ownership.owns(observed.uid)) workers.removeOrphan(podOf(observed));
      else ownership.report(observed);
    }
    ownership.forgetReports((uid) => observer.has(uid));
  }

  async #cleanDisk(desired: ReadonlyMap<string, Pod>, signal: AbortSignal): Promise<void> {
    const { observer, workers, ports, podCgroups, removals } = this.#options;
    const inUse = (uid: string): boolean => desired.has(uid) || workers.get(uid) !== undefined || observer.has(uid);
    await this.#removeDirectories(inUse, signal);
    for (const ref of await ports.containerLogs.listPodLogs({ signal })) {
      if (inUse(ref.podUid)) continue;
      const remove = (): Promise<void> => ports.containerLogs.removePodLogs({ ...ref, signal });
      await removals.run(ref.podUid, remove).catch((error: unknown) => this.#tellFailed(ref.podUid, error, signal));
    }
    const running = new Set(
      observer
        .all()
        .flatMap((pod) =>
          pod.containers.filter((container) => container.state !== "exited").map((container) => container.id),
        ),
    );
    await ports.containerLogs.removeDanglingLinks({ keep: (containerId) => running.has(containerId), signal });
    await podCgroups.removeOrphans({ inUse, removals, signal });
  }

  /** Each running container is seen to once. */
  async #restoreLinks(signal: AbortSignal): Promise<void> {
    const { observer, workers, ports } = this.#options;
    const pods = observer.all();
    const present = new Set(pods.flatMap(({ containers }) => containers.map(({ id }) => id)));
    for (const id of this.#linked) if (!present.has(id)) this.#linked.delete(id);
    const standing = pods.filter(({ uid }) => workers.phase(uid) === "syncing");
    for (const observed of standing) await restoreLinks({ observed, linked: this.#linked, ...ports, signal });
  }

  async #removeDirectories(inUse: (podUid: string) => boolean, signal: AbortSignal): Promise<void> {
    const { ports, ownership, removals } = this.#options;
    const mounted: string[] = [];
    for (const podUid of await ports.podFiles.listPods({ signal })) {
      if (inUse(podUid)) continue;
      try {
        await removals.run(podUid, () => ports.podFiles.removePod({ podUid, signal }));
        ownership.release(podUid);
      } catch (error) {
        if (isErrorOfKind(error, "conflict")) mounted.push(podUid);
        else this.#tellFailed(podUid, error, signal);
      }
    }
    this.#tellStuck(mounted);
  }

  /** What cannot be removed now keeps nothing else from being removed. */
  #tellFailed(podUid: string, error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    const fields = { podUID: podUid, reason: String(error) };
    this.#options.ports.logger.warn("Removing what a pod left failed; the next round tries again", fields);
  }

  /** One line for all that cannot be cleaned, and only when it changed. */
  #tellStuck(stuck: readonly string[]): void {
    const words = [...stuck].sort().join(",");
    if (words !== this.#told && stuck.length > 0) {
      this.#options.ports.logger.warn(
        "Directories of pods that are gone are kept, since something is still mounted under them",
        { count: stuck.length, first: stuck[0] },
      );
    }
    this.#told = words;
  }
}

/** The pod as far as the runtime knows it. */
function podOf(observed: ObservedPod): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { uid: observed.uid, name: observed.name, namespace: observed.namespace },
    spec: { containers: [] },
  };
}
