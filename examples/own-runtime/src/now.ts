/** Wall time in nanoseconds since the Unix epoch, as CRI tells times. */
export function nowNs(): bigint {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
}
