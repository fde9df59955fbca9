import {
  type Amount,
  type Container,
  hasPodLevelResources,
  type Pod,
  parseResourceList,
  podLevel,
  podLimits,
  podRequests,
  type QosClass,
  qosClassOf,
} from "../api/index.ts";
import { NodeletError } from "../errors/index.ts";
import type { CgroupName, CgroupResources } from "../ports/cgroup-manager.ts";
import { DEFAULT_CPU_PERIOD_US, MIN_CPU_SHARES, milliCpuToQuota, milliCpuToShares } from "./cpu.ts";

const KUBEPODS = "kubepods";
const POD_PREFIX = "pod";
/** File names have at most 255 bytes. */
const MAX_PART = 128;
const UNSAFE_PART = /[/_\0]|^\.{0,2}$/;

/** `kubepods` below the configured cgroup root. */
export function kubepodsCgroupName(cgroupRoot: readonly string[]): CgroupName {
  return [...cgroupRoot, KUBEPODS];
}

/** The cgroup of a QoS class; Guaranteed pods lie directly under kubepods. */
export function qosCgroupName(options: { readonly cgroupRoot: readonly string[]; readonly qos: QosClass }): CgroupName {
  const root = kubepodsCgroupName(options.cgroupRoot);
  if (options.qos === "Guaranteed") return root;
  return [...root, options.qos === "Burstable" ? "burstable" : "besteffort"];
}

/**
 * The cgroup of a pod, named by its UID. Throws `invalid` for a UID that cannot be a part of a cgroup name: it may come from
 * a manifest.
 */
export function podCgroupName(options: { readonly cgroupRoot: readonly string[]; readonly pod: Pod }): CgroupName {
  const uid = options.pod.metadata?.uid ?? "";
  if (UNSAFE_PART.test(uid)) {
    throw new NodeletError(
      "invalid",
      `pod UID ${JSON.stringify(uid)} cannot name a cgroup: it is empty or holds "/" or "_"`,
    );
  }
  const parent = qosCgroupName({ cgroupRoot: options.cgroupRoot, qos: qosClassOf(options.pod) });
  return [...parent, `${POD_PREFIX}${uid}`];
}

/** Whether a text can be a part of a cgroup's name: one that holds `/` would lead elsewhere, and systemd needs `_` for itself. */
export function isCgroupPart(text: string): boolean {
  return !UNSAFE_PART.test(text) && text.length <= MAX_PART;
}

/** The pod UID that a direct child of a QoS cgroup belongs to, or undefined when it is not a pod's. */
export function podUidOfCgroup(part: string): string | undefined {
  return part.startsWith(POD_PREFIX) && part.length > POD_PREFIX.length ? part.slice(POD_PREFIX.length) : undefined;
}

/**
 * Limits of a pod's cgroup: Guaranteed has all; Burstable has shares, and a quota or a memory limit only when every container
 * (or the pod) declares one, since otherwise one container's limit would hold them all; BestEffort has the least shares.
 * Requests and limits include the overhead.
 */
export function podCgroupResources(options: {
  readonly pod: Pod;
  readonly cpuCfsQuota: boolean;
  readonly cpuPeriodUs?: bigint;
  /** Highest number of processes; none when it is not positive. */
  readonly podPidsLimit: number;
}): CgroupResources {
  const { pod, podPidsLimit } = options;
  const pids = podPidsLimit > 0 ? { pidsLimit: BigInt(Math.trunc(podPidsLimit)) } : {};
  const qos = qosClassOf(pod);
  if (qos === "BestEffort") return { cpuShares: MIN_CPU_SHARES, ...pids };
  const limits = podLimits(pod);
  const cpuPeriod = options.cpuPeriodUs ?? DEFAULT_CPU_PERIOD_US;
  const milliCpu = limits.get("cpu")?.milliValue() ?? 0n;
  const cpuQuota = options.cpuCfsQuota ? milliCpuToQuota({ milliCpu, periodUs: cpuPeriod }) : -1n;
  const cpu = qos === "Guaranteed" || declares(pod, "cpu") ? { cpuQuota, cpuPeriod } : {};
  const memory =
    qos === "Guaranteed" || declares(pod, "memory") ? { memoryLimitBytes: limits.get("memory")?.value() ?? 0n } : {};
  return {
    cpuShares: milliCpuToShares(podRequests(pod).get("cpu")?.milliValue() ?? 0n),
    ...cpu,
    ...memory,
    ...pids,
  };
}

/** Shares of the two QoS cgroups: Burstable by the sum of its pods' requests, BestEffort the least. */
export function qosCgroupResources(options: { readonly pods: Iterable<Pod> }): {
  readonly burstable: CgroupResources;
  readonly bestEffort: CgroupResources;
} {
  let milliCpu = 0n;
  for (const pod of options.pods) {
    if (qosClassOf(pod) === "Burstable") milliCpu += podRequests(pod).get("cpu")?.milliValue() ?? 0n;
  }
  return { burstable: { cpuShares: milliCpuToShares(milliCpu) }, bestEffort: { cpuShares: MIN_CPU_SHARES } };
}

/** True when the pod itself, or each of its regular and init containers, has a limit of that resource. */
function declares(pod: Pod, resource: "cpu" | "memory"): boolean {
  const positive = (amount: Amount | undefined): boolean => amount !== undefined && !amount.isZero;
  if (hasPodLevelResources(pod) && positive(podLevel(pod, "limits").get(resource))) return true;
  const containers: readonly Container[] = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  return containers.every((container) => positive(parseResourceList(container.resources?.limits).get(resource)));
}
