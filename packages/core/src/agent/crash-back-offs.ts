import { type Pod, podContainers } from "../api/index.ts";
import { Wake } from "../async/wake.ts";
import { BackOff } from "../backoff/index.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { StateStore } from "../ports/state-store.ts";
import { newestInstance, type ObservedPod } from "../runtime/observed-pod.ts";
import type { CrashBackOff } from "../runtime/pod-snapshot.ts";
import { crashBackOffKey } from "../runtime/requests/index.ts";

const INITIAL_MS = 10_000;
const MAX_MS = 300_000;
const STATE_FILE = "crash_back_off_state";

/**
 * Back-off of crashing containers (10 s doubling to 5 min, anew after 10 min of health). Kept in a state file, so that a restart of the agent
 * does not let crash loops run free.
 */
export class CrashBackOffs {
  readonly #state: StateStore;
  readonly #logger: Logger;
  readonly #backOff: BackOff;
  /** Keys of each pod, so that they can be forgotten with it. */
  readonly #keys = new Map<string, Set<string>>();
  readonly #dirty: Wake;

  constructor(options: {
    readonly config: AgentConfig;
    readonly ports: { readonly clock: Clock; readonly state: StateStore; readonly logger: Logger };
  }) {
    const { clock, state, logger } = options.ports;
    this.#state = state;
    this.#logger = logger;
    const maxMs = options.config.maxContainerRestartPeriodMs ?? MAX_MS;
    this.#backOff = new BackOff({ clock, policy: { initialMs: Math.min(INITIAL_MS, maxMs), maxMs } });
    this.#dirty = new Wake(clock);
  }

  /** Takes up what an earlier run left. A damaged file is set aside and told: then crash loops start from 10 s again. */
  async load(signal: AbortSignal): Promise<void> {
    const read = await this.#state.read({ name: STATE_FILE, signal });
    if (read.kind === "ok") this.#backOff.restore(read.value);
    if (read.kind === "damaged")
      this.#logger.warn("The crash back-off state was damaged and set aside; back-offs start anew", {
        setAside: read.setAside,
        reason: read.reason,
      });
  }

  /** Writes changes until the signal fires, and once more then. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#dirty.wait(signal);
      try {
        this.#backOff.prune();
        await this.#state.write({ name: STATE_FILE, value: this.#backOff.export() });
      } catch (error) {
        this.#logger.error("Writing the crash back-off state failed; it is written with the next change", {
          err: error,
        });
      }
    }
  }

  /** Containers of the pod that may not start yet. */
  inBackOff(request: { readonly pod: Pod; readonly observed: ObservedPod }): ReadonlyMap<string, CrashBackOff> {
    const found = new Map<string, CrashBackOff>();
    for (const { container } of podContainers(request.pod)) {
      const last = newestInstance(request.observed, container.name);
      if (last?.finishedAtMs === undefined) continue;
      const window = this.#backOff.sinceEvent(crashBackOffKey({ pod: request.pod, container }), {
        wallMs: last.finishedAtMs,
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
    if (container === undefined || last?.finishedAtMs === undefined) return;
    const key = crashBackOffKey({ pod: request.pod, container });
    this.#backOff.next(key, { eventWallMs: last.finishedAtMs });
    const uid = request.observed.uid;
    const keys = this.#keys.get(uid) ?? new Set<string>();
    keys.add(key);
    this.#keys.set(uid, keys);
    this.#dirty.wake();
  }

  forget(podUid: string): void {
    for (const key of this.#keys.get(podUid) ?? []) this.#backOff.delete(key);
    if (this.#keys.delete(podUid)) this.#dirty.wake();
  }
}
