import type { Pod } from "./gen/core-v1.ts";
import { hasPodLevelResources, podLevel } from "./pod-resources.ts";
import { parseResourceList, type ResourceAmounts, sumResources } from "./resource-lists.ts";

/** How firmly a pod holds its resources. */
export type QosClass = "Guaranteed" | "Burstable" | "BestEffort";

/**
 * QoS class from the spec alone: cpu and memory of regular and init containers, or of the pod as a whole where it has
 * resources of its own; only positive amounts count. Guaranteed needs cpu and memory limits everywhere and requests that
 * equal them. Throws `invalid` for a malformed quantity.
 */
export function computeQosClass(pod: Pod): QosClass {
  const parts = hasPodLevelResources(pod)
    ? [{ requests: podLevel(pod, "requests"), limits: podLevel(pod, "limits") }]
    : [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].map(({ resources }) => ({
        requests: parseResourceList(resources?.requests),
        limits: parseResourceList(resources?.limits),
      }));
  const limited = parts.every(({ limits }) => positive(limits).size === 2);
  const requests = sumResources(parts.map((part) => positive(part.requests)));
  const limits = sumResources(parts.map((part) => positive(part.limits)));
  if (requests.size === 0 && limits.size === 0) return "BestEffort";
  const equal =
    requests.size === limits.size && [...requests].every(([name, amount]) => limits.get(name)?.compare(amount) === 0);
  return limited && equal ? "Guaranteed" : "Burstable";
}

/** The class that the API server wrote, since it never changes, else the computed one. */
export function qosClassOf(pod: Pod): QosClass {
  const written = pod.status?.qosClass;
  return written === "Guaranteed" || written === "Burstable" || written === "BestEffort"
    ? written
    : computeQosClass(pod);
}

function positive(amounts: ResourceAmounts): ResourceAmounts {
  return new Map([...amounts].filter(([name, amount]) => (name === "cpu" || name === "memory") && amount.sign > 0));
}
