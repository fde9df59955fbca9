/**
 * What an agent is told at its creation: the KubeletConfiguration fields (v1beta1 names) and kubelet flags that core itself reads.
 * Durations are milliseconds. Every field has upstream's default in `defaultAgentConfig`.
 */
export interface AgentConfig {
  readonly nodeName: string;
  readonly rootDir: string;
  readonly podLogsDir: string;
  readonly syncFrequencyMs: number;
  readonly fileCheckFrequencyMs: number;
  readonly httpCheckFrequencyMs: number;
  readonly runtimeRequestTimeoutMs: number;
  readonly maxPods: number;
  readonly podsPerCore: number;
  readonly podPidsLimit: number;
  readonly cgroupsPerQos: boolean;
  /** Parts of --cgroup-root; kubepods lies below it. */
  readonly cgroupRoot: readonly string[];
  readonly cpuCfsQuota: boolean;
  readonly cpuCfsQuotaPeriodMs: number;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  readonly resolvConf: string;
  readonly hostnameOverride: string;
  readonly serializeImagePulls: boolean;
  readonly maxParallelImagePulls: number | undefined;
  readonly registryPullQps: number;
  readonly registryBurst: number;
  readonly minimumGcAgeMs: number;
  readonly maxPerPodContainerCount: number;
  readonly maxContainerCount: number;
  readonly allowedUnsafeSysctls: readonly string[];
  readonly seccompDefault: boolean;
  readonly protectKernelDefaults: boolean;
  /** crashLoopBackOff.maxContainerRestartPeriod; undefined = 300 s. */
  readonly maxContainerRestartPeriodMs: number | undefined;
  /** Hard eviction threshold of memory.available: what allocatable memory lacks of the capacity. */
  readonly evictionHardMemoryBytes: bigint;
  readonly featureGates: Readonly<Record<string, boolean>>;
  /** Adopt sandboxes that this root directory did not make. */
  readonly takeOver: boolean;
}

/** Upstream's defaults for everything but the node's name. */
export function defaultAgentConfig(nodeName: string): AgentConfig {
  return {
    nodeName,
    rootDir: "/var/lib/kubelet",
    podLogsDir: "/var/log/pods",
    syncFrequencyMs: 60_000,
    fileCheckFrequencyMs: 20_000,
    httpCheckFrequencyMs: 20_000,
    runtimeRequestTimeoutMs: 120_000,
    maxPods: 110,
    podsPerCore: 0,
    podPidsLimit: -1,
    cgroupsPerQos: true,
    cgroupRoot: [],
    cpuCfsQuota: true,
    cpuCfsQuotaPeriodMs: 100,
    clusterDns: [],
    clusterDomain: "",
    resolvConf: "/etc/resolv.conf",
    hostnameOverride: "",
    serializeImagePulls: true,
    maxParallelImagePulls: undefined,
    registryPullQps: 5,
    registryBurst: 10,
    minimumGcAgeMs: 0,
    maxPerPodContainerCount: 1,
    maxContainerCount: -1,
    allowedUnsafeSysctls: [],
    seccompDefault: false,
    protectKernelDefaults: false,
    maxContainerRestartPeriodMs: undefined,
    evictionHardMemoryBytes: 104_857_600n,
    featureGates: {},
    takeOver: false,
  };
}
