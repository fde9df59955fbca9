import type { ObservedContainer, ObservedPod, ObservedSandbox } from "../observed-pod.ts";

const NS_PER_MS = 1_000_000n;

/** How much of what is dead is kept (minimumGCAge, maxPerPodContainerCount, maxContainerCount of the configuration). */
export interface GarbageLimits {
  /** Dead instances kept of each container of a live pod; negative = all. */
  readonly maxPerPodContainer: number;
  /** Dead instances kept on the whole node; negative = any number. */
  readonly maxContainers: number;
  /** Containers younger than this, by creation, are left alone. */
  readonly minimumAgeMs: number;
}

/** What to remove, in this order: containers oldest first, then sandboxes, each of which is stopped first. */
export interface Garbage {
  readonly containerIds: readonly string[];
  readonly sandboxIds: readonly string[];
}

interface DeadContainer {
  readonly podUid: string;
  readonly instance: ObservedContainer;
}

/**
 * Chooses what of the runtime's content may go. Of pods that are `removable` everything that does not run; of `live` pods all but the newest dead
 * instances of each container, and all sandboxes but the newest. Pods that are neither are between states and left alone. Nothing that runs, no ready
 * sandbox and no sandbox with a container that stays is ever chosen; nor is a created container that may be about to start.
 */
export function selectGarbage(options: {
  readonly pods: readonly ObservedPod[];
  readonly live: (podUid: string) => boolean;
  readonly removable: (podUid: string) => boolean;
  readonly config: GarbageLimits;
  readonly nowMs: number;
}): Garbage {
  const { config, nowMs } = options;
  const removable = options.pods.filter((pod) => options.removable(pod.uid));
  const live = options.pods.filter((pod) => !options.removable(pod.uid) && options.live(pod.uid));
  const chosen = removable.flatMap((pod) => evictable(pod, pod.containers, { config, nowMs }));
  const groups = live.flatMap((pod) => byName(pod).map((instances) => evictable(pod, instances, { config, nowMs })));
  const kept: (readonly DeadContainer[])[] = [];
  for (const group of groups) {
    const keep = config.maxPerPodContainer < 0 ? group.length : config.maxPerPodContainer;
    kept.push(group.slice(0, keep));
    chosen.push(...group.slice(keep));
  }
  chosen.push(...beyondNodeLimit(kept, config.maxContainers));
  const ids = new Set(chosen.map(({ instance }) => instance.id));
  const sandboxes = [
    ...removable.flatMap((pod) => idleSandboxes(pod, pod.sandboxes, ids)),
    ...live.flatMap((pod) => idleSandboxes(pod, pod.sandboxes.slice(1), ids)),
  ];
  return {
    containerIds: chosen.sort(oldestFirst).map(({ instance }) => instance.id),
    sandboxIds: sandboxes.map((sandbox) => sandbox.id),
  };
}

/** Exited instances of one live pod beyond the newest few of each container, oldest first: crash loops leave one at every turn. */
export function selectDeadContainers(options: {
  readonly observed: ObservedPod;
  readonly keepPerContainer: number;
  readonly minimumAgeMs: number;
  readonly nowMs: number;
}): readonly string[] {
  const { observed, keepPerContainer, minimumAgeMs, nowMs } = options;
  return byName(observed)
    .flatMap((instances) => instances.filter(({ state }) => state === "exited").slice(Math.max(keepPerContainer, 0)))
    .filter((instance) => isOldEnough(instance, { minimumAgeMs, nowMs }))
    .reverse()
    .map((instance) => instance.id);
}

function evictable(
  pod: ObservedPod,
  instances: readonly ObservedContainer[],
  terms: { readonly config: GarbageLimits; readonly nowMs: number },
): DeadContainer[] {
  const { minimumAgeMs } = terms.config;
  return instances
    .filter(({ state }) => state !== "running")
    .filter((instance) => isOldEnough(instance, { minimumAgeMs, nowMs: terms.nowMs }))
    .map((instance) => ({ podUid: pod.uid, instance }));
}

/** Instances of each name, newest first; a newest one that is only created is left out, since a worker may be about to start it. */
function byName(pod: ObservedPod): readonly (readonly ObservedContainer[])[] {
  const groups = Map.groupBy(pod.containers, (instance) => instance.name);
  return [...groups.values()].map((group) => (group[0]?.state === "created" ? group.slice(1) : group));
}

/** The node's limit: first every container keeps an equal share, at least one instance; then the oldest of all go. */
function beyondNodeLimit(groups: readonly (readonly DeadContainer[])[], maxContainers: number): DeadContainer[] {
  const filled = groups.filter((group) => group.length > 0);
  const count = filled.reduce((sum, group) => sum + group.length, 0);
  if (maxContainers < 0 || count <= maxContainers) return [];
  const share = Math.max(1, Math.floor(maxContainers / filled.length));
  const chosen = filled.flatMap((group) => group.slice(share));
  const rest = filled.flatMap((group) => group.slice(0, share)).sort(oldestFirst);
  return [...chosen, ...rest.slice(0, Math.max(0, rest.length - maxContainers))];
}

function idleSandboxes(
  pod: ObservedPod,
  sandboxes: readonly ObservedSandbox[],
  removed: ReadonlySet<string>,
): readonly ObservedSandbox[] {
  const used = new Set(pod.containers.filter(({ id }) => !removed.has(id)).map(({ sandboxId }) => sandboxId));
  return sandboxes.filter((sandbox) => !sandbox.ready && !used.has(sandbox.id));
}

function isOldEnough(
  instance: ObservedContainer,
  terms: { readonly minimumAgeMs: number; readonly nowMs: number },
): boolean {
  return Number(instance.createdAtNs / NS_PER_MS) + terms.minimumAgeMs <= terms.nowMs;
}

function oldestFirst(left: DeadContainer, right: DeadContainer): number {
  const [a, b] = [left.instance, right.instance];
  if (a.createdAtNs !== b.createdAtNs) return a.createdAtNs < b.createdAtNs ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}
