export {
  DEFAULT_CPU_PERIOD_US,
  milliCpuToQuota,
  milliCpuToShares,
  quotaToMilliCpu,
  sharesToMilliCpu,
  sharesToWeight,
  weightToShares,
} from "./cpu.ts";
export { hugepageLimits, hugepageSizeBytes, hugepageSizeName } from "./hugepages.ts";
export { containerResources, type ResourceRules, sandboxOverhead, sandboxResources } from "./linux-resources.ts";
export { isNodeCritical, oomScoreAdj } from "./oom-score.ts";
export {
  kubepodsCgroupName,
  podCgroupName,
  podCgroupResources,
  podUidOfCgroup,
  qosCgroupName,
  qosCgroupResources,
} from "./pod-cgroup.ts";
