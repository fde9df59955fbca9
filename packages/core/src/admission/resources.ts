import { Amount, type Pod, podRequests, type ResourceAmounts, sumResources } from "../api/index.ts";
import type { AdmissionInput } from "./admission.ts";

/** A resource of which the node has too little. Whole units, thousandths for cpu. */
export interface ResourceShortage {
  readonly resource: string;
  readonly requested: bigint;
  readonly used: bigint;
  readonly capacity: bigint;
}

/** The scheduler's fixed order; whatever else a pod asks for comes after these, by name. */
const FIRST_RESOURCES = ["cpu", "memory", "ephemeral-storage"];

/**
 * What the pod asks for beyond what is left of the node's allocatable resources, in the scheduler's order. An extended resource that the node
 * does not have at all is left out of account: it may be handed out by the cluster.
 */
export function findShortages(input: AdmissionInput): ResourceShortage[] {
  const shortages: ResourceShortage[] = [];
  const podCapacity = Amount.parse(input.node.allocatable["pods"] ?? "0").value();
  const podCount = BigInt(input.otherPods.length);
  if (podCount + 1n > podCapacity) {
    shortages.push({ resource: "pods", requested: 1n, used: podCount, capacity: podCapacity });
  }
  const requests = podRequests(input.pod);
  const used = sumResources(input.otherPods.map((pod) => heldBy(pod)));
  for (const resource of inOrder(requests)) {
    const requested = unitsOf(resource, requests);
    if (requested <= 0n || !counts(resource, input)) continue;
    const held = unitsOf(resource, used);
    const capacity = unitsOf(resource, new Map([[resource, Amount.parse(input.node.allocatable[resource] ?? "0")]]));
    if (requested > capacity - held) shortages.push({ resource, requested, used: held, capacity });
  }
  return shortages;
}

/** While a pod is resized it holds the larger of what it has and what it was promised (KEP-1287). */
function heldBy(pod: Pod): ResourceAmounts {
  return podRequests(pod, { useStatusResources: true });
}

function inOrder(requests: ResourceAmounts): string[] {
  const others = [...requests.keys()].filter((name) => !FIRST_RESOURCES.includes(name)).sort();
  return [...FIRST_RESOURCES.filter((name) => requests.has(name)), ...others];
}

function unitsOf(resource: string, amounts: ResourceAmounts): bigint {
  const amount = amounts.get(resource) ?? Amount.zero;
  return resource === "cpu" ? amount.milliValue() : amount.value();
}

/** Extended resources that the node lacks are the cluster's; local storage is judged once the node measures it. */
function counts(resource: string, input: AdmissionInput): boolean {
  const mayBeUnknown = isExtendedResource(resource) || resource === "ephemeral-storage";
  return !mayBeUnknown || Object.hasOwn(input.node.allocatable, resource);
}

/** True for resources of other domains, such as `example.com/gpu`: not Kubernetes' own and not a quota's `requests.` name. */
function isExtendedResource(name: string): boolean {
  return name.includes("/") && !name.includes("kubernetes.io/") && !name.startsWith("requests.");
}
