import { type Pod, podContainers } from "../api/index.ts";
import { BackOff, type BackOffRecord } from "../backoff/index.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import type { Clock } from "../ports/clock.ts";
import { newestInstance, type ObservedContainer, type ObservedPod } from "../runtime/observed-pod.ts";
import type { CrashBackOff } from "../runtime/pod-snapshot.ts";
import { crashBackOffKey } from "../runtime/requests/index.ts";

const INITIAL_MS = 10_000;
const MAX_MS = 300_000;

/** Back-off of crashing containers: 10 s doubling to 5 min, anew after 10 min of health. */
export class CrashBackOffs {
  readonly #backOff: BackOff;
  readonly #onChange: () => void;

  constructor(options: {
    readonly config: AgentConfig;
    readonly ports: { readonly clock: Clock };
    /** Told when a window opened or was forgotten. */
    readonly onChange: () => void;
  }) {
    const maxMs = options.config.maxContainerRestartPeriodMs ?? MAX_MS;
    const policy = { initialMs: Math.min(INITIAL_MS, maxMs), maxMs };
    this.#backOff = new BackOff({ clock: options.ports.clock, policy });
    this.#onChange = options.onChange;
  }

  /** How many containers are held. */
  get size(): number {
    return this.#backOff.size;
  }

  /** What a state file keeps. Windows that mean nothing any more are dropped. */
  export(): readonly BackOffRecord[] {
    this.#backOff.prune();
    return this.#backOff.export();
  }

  restore(state: unknown): void {
    this.#backOff.restore(state);
  }

  /** Containers of the pod that may not start yet. */
  inBackOff(request: { readonly pod: Pod; readonly observed: ObservedPod }): ReadonlyMap<string, CrashBackOff> {
    const found = new Map<string, CrashBackOff>();
    for (const { container } of podContainers(request.pod)) {
      const last = newestInstance(request.observed, container.name);
      const endedAtMs = endOf(last);
      if (endedAtMs === undefined) continue;
      const window = this.#backOff.sinceEvent(crashBackOffKey({ pod: request.pod, container }), {
        wallMs: endedAtMs,
      });
      if (window !== undefined) found.set(container.name, window);
    }
    return found;
  }

  /** The container is about to be started again after it ended: the next window opens. */
  restarting(request: { readonly pod: Pod; readonly observed: ObservedPod; readonly containerName: string }): void {
    const container = [...podContainers(request.pod)].find(
      (entry) => entry.container.name === request.containerName,
    )?.container;
    const last = newestInstance(request.observed, request.containerName);
    const endedAtMs = endOf(last);
    if (container === undefined || endedAtMs === undefined) return;
    this.#backOff.next(crashBackOffKey({ pod: request.pod, container }), { eventWallMs: endedAtMs });
    this.#onChange();
  }

  /** Forgets a pod that is gone. Keys begin with its UID. */
  forget(podUid: string): void {
    if (this.#backOff.retain((key) => !key.startsWith(`${podUid}/`))) this.#onChange();
  }
}

/** When an instance ended. A runtime that does not tell must not let a crash loop run free: then its start, or its creation, stands for the end. */
function endOf(instance: ObservedContainer | undefined): number | undefined {
  if (instance?.state !== "exited") return undefined;
  return instance.finishedAtMs ?? instance.startedAtMs ?? Number(instance.createdAtNs / 1_000_000n);
}
