/** Conversions between millicores and the kernel's CPU controls (cgroups v1 and v2, sched-bwc). */

/** The least shares the kernel takes. */
export const MIN_CPU_SHARES = 2n;
/** The most shares the kernel takes. */
export const MAX_CPU_SHARES = 262_144n;
/** Default CFS period in microseconds. */
export const DEFAULT_CPU_PERIOD_US = 100_000n;
/** The least quota the kernel takes, in microseconds. */
export const MIN_CPU_QUOTA_US = 1000n;

/** cpu.shares of a request: 1024 a core, held to what the kernel takes; nothing asked for is the least. */
export function milliCpuToShares(milliCpu: bigint): bigint {
  const shares = (milliCpu * 1024n) / 1000n;
  if (shares < MIN_CPU_SHARES) return MIN_CPU_SHARES;
  return shares > MAX_CPU_SHARES ? MAX_CPU_SHARES : shares;
}

/** CFS quota of a limit in microseconds a period, at least 1000; 0 when there is no limit. */
export function milliCpuToQuota(limit: { readonly milliCpu: bigint; readonly periodUs: bigint }): bigint {
  if (limit.milliCpu === 0n) return 0n;
  const quota = (limit.milliCpu * limit.periodUs) / 1000n;
  return quota < MIN_CPU_QUOTA_US ? MIN_CPU_QUOTA_US : quota;
}

/** The millicores that shares stand for, rounded up so that a conversion there and back never asks for less. */
export function sharesToMilliCpu(shares: bigint): bigint {
  return shares < MIN_CPU_SHARES ? 0n : (shares * 1000n + 1023n) / 1024n;
}

/** The millicores that a quota allows; 0 when there is no quota. */
export function quotaToMilliCpu(limit: { readonly quotaUs: bigint; readonly periodUs: bigint }): bigint {
  return limit.quotaUs <= 0n || limit.periodUs <= 0n ? 0n : (limit.quotaUs * 1000n) / limit.periodUs;
}

/** cpu.weight (cgroup v2) that the kubelet writes for shares: the linear rule, 2 -> 1 and 262144 -> 10000. */
export function sharesToWeight(shares: bigint): bigint {
  if (shares <= MIN_CPU_SHARES) return 1n;
  if (shares >= MAX_CPU_SHARES) return 10_000n;
  return 1n + ((shares - 2n) * 9999n) / 262_142n;
}

/** The shares that a cpu.weight stands for, by the same linear rule. */
export function weightToShares(weight: bigint): bigint {
  return ((weight - 1n) * 262_142n) / 9999n + 2n;
}
