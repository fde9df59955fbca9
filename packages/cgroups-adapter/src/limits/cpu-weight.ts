const MIN_SHARES = 2n;
const MAX_SHARES = 262_144n;

/**
 * cpu.weight (1 to 10000) for cpu.shares (2 to 262144), by the linear formula that the kubelet uses for its own cgroups; runtimes have moved to
 * another curve for theirs (KEP-2254). Integer division.
 */
export function cpuWeightOfShares(shares: bigint): bigint {
  const clamped = shares < MIN_SHARES ? MIN_SHARES : shares > MAX_SHARES ? MAX_SHARES : shares;
  return 1n + ((clamped - MIN_SHARES) * 9_999n) / 262_142n;
}
