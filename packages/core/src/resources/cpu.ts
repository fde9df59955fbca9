/** Conversions of millicores to the kernel's CPU controls (cgroups, sched-bwc). */

/** The least shares the kernel takes. */
export const MIN_CPU_SHARES = 2n;
/** The most shares the kernel takes. */
const MAX_CPU_SHARES = 262_144n;
/** Default CFS period in microseconds. */
export const DEFAULT_CPU_PERIOD_US = 100_000n;
/** The least quota the kernel takes, in microseconds. */
const MIN_CPU_QUOTA_US = 1000n;

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
