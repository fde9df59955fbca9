import {
  Amount,
  type Container,
  type EphemeralContainer,
  type Pod,
  parseResourceList,
  podLevel,
  podLimits,
  podRequests,
} from "../api/index.ts";
import type { LinuxContainerResources, StringMap } from "../ports/runtime-types.ts";
import { MIN_CPU_SHARES, milliCpuToQuota, milliCpuToShares } from "./cpu.ts";
import { hugepageLimits } from "./hugepages.ts";
import { oomScoreAdj } from "./oom-score.ts";

/** What of the node decides how requests and limits become kernel values. */
export interface ResourceRules {
  readonly cpuCfsQuota: boolean;
  readonly cpuPeriodUs: bigint;
  readonly cgroupVersion: 1 | 2;
  /** The kernel accounts swap (memory.memsw or memory.swap.max exists). */
  readonly swapAccounting: boolean;
  /** Kill one process on an out-of-memory, not the whole container; only cgroup v2 can do the latter. */
  readonly singleProcessOomKill: boolean;
  readonly hugepageSizesBytes: readonly bigint[];
  readonly memoryBytes: bigint;
}

/** Resources of one container for the runtime; a container without a cpu or memory limit of its own gets the pod's (KEP-2837). */
export function containerResources(options: {
  readonly pod: Pod;
  readonly container: Container | EphemeralContainer;
  readonly rules: ResourceRules;
}): LinuxContainerResources {
  const { pod, container, rules } = options;
  const requests = parseResourceList(container.resources?.requests);
  const limits = parseResourceList(container.resources?.limits);
  const podLimit = podLevel(pod, "limits");
  const limitOf = (name: string): Amount => {
    const own = limits.get(name);
    return own === undefined || own.isZero ? (podLimit.get(name) ?? Amount.zero) : own;
  };
  const base = kernelValues({
    cpuRequest: requests.get("cpu"),
    cpuLimit: limitOf("cpu"),
    memoryLimit: limitOf("memory"),
    rules,
  });
  return {
    ...base,
    ...swapLimits({ base, rules }),
    oomScoreAdj: BigInt(oomScoreAdj({ pod, container, nodeMemoryBytes: rules.memoryBytes })),
    hugepageLimits: hugepageLimits({ machineSizesBytes: rules.hugepageSizesBytes, limits: [podLimit, limits] }),
  };
}

/** Sum of the pod for RunPodSandbox, without overhead: runtimes that put pods in a machine of their own size it by this. */
export function sandboxResources(options: {
  readonly pod: Pod;
  readonly rules: ResourceRules;
}): LinuxContainerResources {
  const requests = podRequests(options.pod, { excludeOverhead: true });
  const limits = podLimits(options.pod, { excludeOverhead: true });
  return kernelValues({
    cpuRequest: requests.get("cpu"),
    cpuLimit: limits.get("cpu") ?? Amount.zero,
    memoryLimit: limits.get("memory") ?? Amount.zero,
    rules: options.rules,
  });
}

/** The runtime class's overhead for RunPodSandbox, taken as request and limit at once; empty when there is none. */
export function sandboxOverhead(options: {
  readonly pod: Pod;
  readonly rules: ResourceRules;
}): LinuxContainerResources {
  if (options.pod.spec?.overhead === undefined) return {};
  const overhead = parseResourceList(options.pod.spec.overhead);
  const cpu = overhead.get("cpu") ?? Amount.zero;
  return kernelValues({
    cpuRequest: cpu,
    cpuLimit: cpu,
    memoryLimit: overhead.get("memory") ?? Amount.zero,
    rules: options.rules,
  });
}

function kernelValues(options: {
  readonly cpuRequest: Amount | undefined;
  readonly cpuLimit: Amount;
  readonly memoryLimit: Amount;
  readonly rules: ResourceRules;
}): LinuxContainerResources {
  const { cpuRequest, cpuLimit, rules } = options;
  // Without a request the limit is the request, as the API server defaults it; static pods come without that default.
  const asked = cpuRequest === undefined || cpuRequest.isZero ? cpuLimit : cpuRequest;
  const memory = options.memoryLimit.value();
  return {
    cpuShares: asked.isZero ? MIN_CPU_SHARES : milliCpuToShares(asked.milliValue()),
    ...(memory === 0n ? {} : { memoryLimitInBytes: memory }),
    ...(rules.cpuCfsQuota
      ? {
          cpuPeriod: rules.cpuPeriodUs,
          cpuQuota: milliCpuToQuota({ milliCpu: cpuLimit.milliValue(), periodUs: rules.cpuPeriodUs }),
        }
      : {}),
    ...(rules.cgroupVersion === 2 && !rules.singleProcessOomKill ? { unified: { "memory.oom.group": "1" } } : {}),
  };
}

/** No swap for containers: on cgroup v1 memory plus swap is held to the memory limit, on v2 swap itself to 0. */
function swapLimits(options: { readonly base: LinuxContainerResources; readonly rules: ResourceRules }): {
  readonly memorySwapLimitInBytes?: bigint;
  readonly unified?: StringMap;
} {
  const { base, rules } = options;
  if (!rules.swapAccounting) return {};
  if (rules.cgroupVersion === 2) return { unified: { ...base.unified, "memory.swap.max": "0" } };
  return base.memoryLimitInBytes === undefined ? {} : { memorySwapLimitInBytes: base.memoryLimitInBytes };
}
