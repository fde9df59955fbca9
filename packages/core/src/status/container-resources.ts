import {
  Amount,
  type Container,
  type ContainerStatus,
  type Quantity,
  type ResourceRequirements,
} from "../api/index.ts";
import type { ObservedContainer } from "../runtime/observed-pod.ts";

/** A CPU request of that many shares and less, and a CPU limit of that many milli and less, cannot be told from the least the kernel takes. */
const MIN_SHARES = 2n;
const MIN_LIMIT_MILLI = 10n;
const SHARES_PER_CPU = 1024n;

type ResourceList = { [name: string]: Quantity };

/**
 * The resource fields of a container that has an instance: what it was allocated, overlaid while it runs with the cpu request, cpu limit and memory
 * limit that the runtime reports (KEP-1287). Values too small to be told apart in the kernel keep the spec's. Where the runtime reports nothing,
 * what the status showed of the same running instance stays.
 */
export function containerResources(options: {
  readonly container: Pick<Container, "resources">;
  readonly instance: ObservedContainer;
  readonly previous: ContainerStatus | undefined;
}): Pick<ContainerStatus, "resources" | "allocatedResources"> {
  const { container, instance, previous } = options;
  const allocated = container.resources ?? {};
  const resources: ResourceRequirements = structuredClone(allocated);
  if (instance.state === "running") {
    const shown = previous?.state?.running !== undefined && previous.containerID?.endsWith(`//${instance.id}`) === true;
    overlay(resources, { instance, shown: shown ? previous.resources : undefined });
  }
  return { ...(isFilled(allocated.requests) && { allocatedResources: { ...allocated.requests } }), resources };
}

function overlay(
  resources: ResourceRequirements,
  from: { readonly instance: ObservedContainer; readonly shown: ResourceRequirements | undefined },
): void {
  const actual = from.instance.resources ?? {};
  const { limits, requests } = resources;
  if (limits !== undefined) {
    const cpu = quotaToMilli(actual.cpuQuota, actual.cpuPeriod);
    if (cpu === undefined) keepShown(limits, from.shown?.limits, "cpu");
    else if (cpu > MIN_LIMIT_MILLI || milliOf(limits, "cpu") > MIN_LIMIT_MILLI) limits["cpu"] = milli(cpu);
    const memory = actual.memoryLimitInBytes ?? 0n;
    if (memory > 0n) limits["memory"] = Amount.of(memory, { format: "binarySI" }).toString();
    else keepShown(limits, from.shown?.limits, "memory");
  }
  if (requests !== undefined) {
    const cpu = sharesToMilli(actual.cpuShares);
    if (cpu === undefined) keepShown(requests, from.shown?.requests, "cpu");
    else if (cpu > MIN_SHARES || milliOf(requests, "cpu") > MIN_SHARES) requests["cpu"] = milli(cpu);
  }
}

function keepShown(list: ResourceList, shown: ResourceList | undefined, name: string): void {
  const value = shown?.[name];
  if (value !== undefined) list[name] = value;
}

function quotaToMilli(quota: bigint | undefined, period: bigint | undefined): bigint | undefined {
  if (quota === undefined || period === undefined || quota <= 0n || period <= 0n) return undefined;
  const result = (quota * 1000n) / period;
  return result > 0n ? result : undefined;
}

/** Rounded up, so that a request comes back from the shares that were made of it. */
function sharesToMilli(shares: bigint | undefined): bigint | undefined {
  if (shares === undefined || shares < MIN_SHARES) return undefined;
  return (shares * 1000n + SHARES_PER_CPU - 1n) / SHARES_PER_CPU;
}

function milli(value: bigint): Quantity {
  return Amount.of(value, { exponent: -3 }).toString();
}

function milliOf(list: ResourceList, name: string): bigint {
  const quantity = list[name];
  return quantity === undefined ? 0n : Amount.parse(quantity).milliValue();
}

function isFilled(list: ResourceList | undefined): list is ResourceList {
  return list !== undefined && Object.keys(list).length > 0;
}
