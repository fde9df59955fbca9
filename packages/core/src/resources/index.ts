export { DEFAULT_CPU_PERIOD_US, milliCpuToQuota, milliCpuToShares } from "./cpu.ts";
export { hugepageLimits, hugepageSizeBytes, hugepageSizeName } from "./hugepages.ts";
export { containerResources, type ResourceRules, sandboxOverhead, sandboxResources } from "./linux-resources.ts";
export { oomScoreAdj } from "./oom-score.ts";
export {
  isCgroupPart,
  kubepodsCgroupName,
  podCgroupName,
  podCgroupResources,
  podUidOfCgroup,
  qosCgroupName,
  qosCgroupResources,
} from "./pod-cgroup.ts";
