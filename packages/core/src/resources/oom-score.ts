import {
  type Container,
  type EphemeralContainer,
  hasPodLevelResources,
  isSidecar,
  type Pod,
  parseResourceList,
  podLevel,
  podRequests,
  qosClassOf,
} from "../api/index.ts";

const GUARANTEED = -997;
const BEST_EFFORT = 1000;
const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;

/**
 * oom_score_adj of a container: -997 for Guaranteed and node-critical pods, 1000 for BestEffort, else by its share of the
 * node's memory: the more it asked for, the later it dies. A sidecar never dies before the regular containers it serves (KEP-753);
 * memory that the pod asked for beyond its containers counts for them in equal parts (KEP-2837).
 */
export function oomScoreAdj(options: {
  readonly pod: Pod;
  readonly container: Container | EphemeralContainer;
  readonly nodeMemoryBytes: bigint;
}): number {
  const { pod, container } = options;
  if (isNodeCritical(pod)) return GUARANTEED;
  const qos = qosClassOf(pod);
  if (qos === "Guaranteed") return GUARANTEED;
  if (qos === "BestEffort") return BEST_EFFORT;
  const shared = unallocatedMemoryPerContainer(pod);
  const score = (requestBytes: bigint): bigint =>
    options.nodeMemoryBytes <= 0n ? 1000n : 1000n - (1000n * (requestBytes + shared)) / options.nodeMemoryBytes;
  let adjustment = score(memoryRequest(container));
  if (isSidecarOf(pod, container)) {
    const regular = (pod.spec?.containers ?? []).map(memoryRequest);
    const smallest = regular.reduce((least, next) => (next < least ? next : least), regular[0] ?? 0n);
    const limit = score(smallest);
    if (limit < adjustment) adjustment = limit;
  }
  if (adjustment < 1000n + BigInt(GUARANTEED)) return 1000 + GUARANTEED;
  return adjustment >= BigInt(BEST_EFFORT) ? BEST_EFFORT - 1 : Number(adjustment);
}

/** True for pods that only the machine itself outlives: critical, and of the class system-node-critical. */
function isNodeCritical(pod: Pod): boolean {
  if (pod.spec?.priorityClassName !== "system-node-critical") return false;
  const annotations = pod.metadata?.annotations ?? {};
  const source = annotations["kubernetes.io/config.source"];
  const isStatic = source !== undefined && source !== "api";
  const isMirror = Object.hasOwn(annotations, "kubernetes.io/config.mirror");
  return isStatic || isMirror || (pod.spec.priority ?? 0) >= SYSTEM_CRITICAL_PRIORITY;
}

function memoryRequest(container: Container | EphemeralContainer): bigint {
  return parseResourceList(container.resources?.requests).get("memory")?.value() ?? 0n;
}

function isSidecarOf(pod: Pod, container: Container | EphemeralContainer): boolean {
  return (pod.spec?.initContainers ?? []).some((init) => init.name === container.name && isSidecar(init));
}

function unallocatedMemoryPerContainer(pod: Pod): bigint {
  if (!hasPodLevelResources(pod)) return 0n;
  const wanted = podLevel(pod, "requests").get("memory")?.value() ?? 0n;
  if (wanted === 0n) return 0n;
  const options = { excludeOverhead: true, skipPodLevel: true };
  const allocated = podRequests(pod, options).get("memory")?.value() ?? 0n;
  const count = BigInt((pod.spec?.containers ?? []).length + (pod.spec?.initContainers ?? []).length);
  return count === 0n ? 0n : (wanted - allocated) / count;
}
