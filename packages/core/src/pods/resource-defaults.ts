import {
  Amount,
  hasPodLevelResources,
  isPodLevelResource,
  type Pod,
  podLimits,
  podRequests,
  type Quantity,
  type ResourceAmounts,
  type ResourceRequirements,
} from "../api/index.ts";
import { NodeletError } from "../errors/index.ts";

type QuantityList = { [name: string]: Quantity };

/** Limits are requests too, where nothing else was asked for; all in canonical form. */
export function defaultContainerResources(resources: ResourceRequirements): ResourceRequirements {
  const limits = resources.limits === undefined ? undefined : roundResourceList(resources.limits);
  const requests = resources.requests === undefined ? undefined : roundResourceList(resources.requests);
  return {
    ...resources,
    ...(limits !== undefined && { limits }),
    ...((limits ?? requests) !== undefined && { requests: withMissing(requests ?? {}, limits ?? {}) }),
  };
}

/** Canonical quantities, none finer than a thousandth (rounded up), as the API server stores resource lists. */
export function roundResourceList(list: QuantityList): QuantityList {
  return Object.fromEntries(Object.entries(list).map(([name, quantity]) => [name, roundQuantity(quantity)]));
}

function roundQuantity(quantity: Quantity): Quantity {
  try {
    const amount = Amount.parse(quantity);
    const exact = amount.nanos % 1_000_000n === 0n;
    return exact
      ? amount.toString()
      : Amount.of(amount.milliValue(), { exponent: -3, format: amount.format }).toString();
  } catch (error) {
    if (NodeletError.is(error)) return quantity;
    throw error;
  }
}

function withMissing(list: QuantityList, others: QuantityList): QuantityList {
  const missing = Object.entries(others).filter(([name]) => !Object.hasOwn(list, name));
  return Object.fromEntries([...Object.entries(list), ...missing]);
}

/**
 * Fills in pod-level resources (KEP-2837) once the containers have theirs: huge page limits from the containers, requests from what the
 * containers ask for together or else from the pod's limits, limits from the containers when every one of them has one.
 */
export function defaultPodResources(pod: Pod): void {
  const own = pod.spec?.resources;
  if (pod.spec === undefined || own === undefined) return;
  try {
    if (own.limits !== undefined) own.limits = roundResourceList(own.limits);
    if (own.requests !== undefined) own.requests = roundResourceList(own.requests);
    defaultHugePageLimits(pod, own);
    defaultRequests(pod, own);
    defaultLimits(pod, own);
  } catch (error) {
    // A container's quantity that is none: validation names it.
    if (!NodeletError.is(error)) throw error;
  }
}

const OF_CONTAINERS = { excludeOverhead: true, skipPodLevel: true } as const;

function defaultHugePageLimits(pod: Pod, own: ResourceRequirements): void {
  if (count(own.limits) === 0 && count(own.requests) === 0) return;
  const limits = pick(
    podLimits(pod, OF_CONTAINERS),
    (name) => isHugePages(name) && !Object.hasOwn(own.requests ?? {}, name),
  );
  assign(own, "limits", withMissing(own.limits ?? {}, limits));
}

function defaultRequests(pod: Pod, own: ResourceRequirements): void {
  if (count(own.limits) === 0) return;
  const asked = pick(podRequests(pod, OF_CONTAINERS), (name) => isPodLevelResource(name) && !isHugePages(name));
  const limits = Object.fromEntries(Object.entries(own.limits ?? {}).filter(([name]) => isPodLevelResource(name)));
  assign(own, "requests", withMissing(withMissing(own.requests ?? {}, asked), limits));
}

function defaultLimits(pod: Pod, own: ResourceRequirements): void {
  if (count(own.limits) > 0 || !hasPodLevelResources(pod)) return;
  const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  const everywhere = (name: string): boolean =>
    containers.every((container) => Object.hasOwn(container.resources?.limits ?? {}, name));
  const limits = pick(
    podLimits(pod, OF_CONTAINERS),
    (name) => isPodLevelResource(name) && !isHugePages(name) && everywhere(name),
  );
  assign(own, "limits", withMissing(own.limits ?? {}, limits));
}

function assign(own: ResourceRequirements, kind: "limits" | "requests", list: QuantityList): void {
  if (Object.keys(list).length > 0) own[kind] = list;
}

function count(list: QuantityList | undefined): number {
  return Object.keys(list ?? {}).length;
}

function pick(amounts: ResourceAmounts, wanted: (name: string) => boolean): QuantityList {
  return Object.fromEntries(
    [...amounts].filter(([name]) => wanted(name)).map(([name, amount]) => [name, amount.toString()]),
  );
}

function isHugePages(name: string): boolean {
  return name.startsWith("hugepages-");
}
