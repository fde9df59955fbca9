import type { Container, ContainerStatus, Pod } from "./gen/core-v1.ts";
import { findCondition, findContainerStatus, isSidecar } from "./pods.ts";
import type { Amount } from "./quantity.ts";
import { maxResources, parseResourceList, type ResourceAmounts, sumResources } from "./resource-lists.ts";

/** What counts into a pod's resources. */
export interface PodResourceOptions {
  /**
   * Count what a container has and what it was allocated beside what its spec asks for, as resize in place needs:
   * the larger one until the resize is done, and never the spec when the resize is infeasible. Default false.
   */
  readonly useStatusResources?: boolean;
  /** Leave the runtime class's overhead out. Default false. */
  readonly excludeOverhead?: boolean;
  /** Take the sum of the containers even where the pod has resources of its own. Default false. */
  readonly skipPodLevel?: boolean;
}

/**
 * Requests of a whole pod (KEP-753 for sidecars, KEP-2837 for pod-level resources, KEP-1287 for resize):
 * per resource the larger of what runs together (regular containers and all sidecars) and of what each init container
 * needs beside the sidecars started before it; pod-level cpu, memory and hugepages replace that; then the overhead.
 * Throws `invalid` for a malformed quantity.
 */
export function podRequests(pod: Pod, options: PodResourceOptions = {}): ResourceAmounts {
  const infeasible = options.useStatusResources === true && isResizeInfeasible(pod);
  const total = aggregate(pod, (container) => {
    const spec = parseResourceList(container.resources?.requests);
    const status = statusOf(pod, { container, options });
    if (status?.resources === undefined) return spec;
    const actual = [parseResourceList(status.resources.requests), parseResourceList(status.allocatedResources)];
    return maxResources(infeasible ? actual : [spec, ...actual]);
  });
  const own = options.skipPodLevel === true ? new Map<string, Amount>() : podLevel(pod, "requests");
  const overhead = options.excludeOverhead === true ? new Map<string, Amount>() : parseResourceList(pod.spec?.overhead);
  return sumResources([new Map([...total, ...own]), overhead]);
}

/**
 * Limits of a whole pod, by the same rule as `podRequests`; overhead is added only where there is a limit that is not zero,
 * since no limit stays no limit. Throws `invalid` for a malformed quantity.
 */
export function podLimits(pod: Pod, options: PodResourceOptions = {}): ResourceAmounts {
  const infeasible = options.useStatusResources === true && isResizeInfeasible(pod);
  const total = aggregate(pod, (container) => {
    const spec = parseResourceList(container.resources?.limits);
    const status = statusOf(pod, { container, options });
    if (status?.resources === undefined) return spec;
    const actual = parseResourceList(status.resources.limits);
    return infeasible ? actual : maxResources([spec, actual]);
  });
  const limits = new Map([...total, ...(options.skipPodLevel === true ? [] : podLevel(pod, "limits"))]);
  if (options.excludeOverhead !== true) {
    for (const [name, amount] of parseResourceList(pod.spec?.overhead)) {
      const limit = limits.get(name);
      if (limit !== undefined && !limit.isZero) limits.set(name, limit.plus(amount));
    }
  }
  return limits;
}

/** True for resources that a pod may ask for as a whole: cpu, memory and huge pages. */
export function isPodLevelResource(name: string): boolean {
  return name === "cpu" || name === "memory" || name.startsWith("hugepages-");
}

/** The pod's own requests or limits, only of resources that may be asked for at that level. */
export function podLevel(pod: Pod, kind: "requests" | "limits"): ResourceAmounts {
  return new Map([...parseResourceList(pod.spec?.resources?.[kind])].filter(([name]) => isPodLevelResource(name)));
}

/** True when the pod as a whole has a request or a limit. */
export function hasPodLevelResources(pod: Pod): boolean {
  const { requests = {}, limits = {} } = pod.spec?.resources ?? {};
  return [...Object.keys(requests), ...Object.keys(limits)].some(isPodLevelResource);
}

function aggregate(pod: Pod, resourcesOf: (container: Container) => ResourceAmounts): Map<string, Amount> {
  const together = (pod.spec?.containers ?? []).map(resourcesOf);
  const sidecars: ResourceAmounts[] = [];
  const phases: ResourceAmounts[] = [];
  for (const container of pod.spec?.initContainers ?? []) {
    const own = resourcesOf(container);
    phases.push(sumResources([...sidecars, own]));
    if (isSidecar(container)) {
      sidecars.push(own);
      together.push(own);
    }
  }
  return maxResources([sumResources(together), ...phases]);
}

function statusOf(pod: Pod, what: { container: Container; options: PodResourceOptions }): ContainerStatus | undefined {
  return what.options.useStatusResources === true ? findContainerStatus(pod, what.container.name) : undefined;
}

function isResizeInfeasible(pod: Pod): boolean {
  return findCondition(pod.status?.conditions, "PodResizePending")?.reason === "Infeasible";
}
