/**
 * A time span as Go's `time.Duration` prints it (`0s`, `796ms`, `1.594s`, `5m0s`, `1h0m0s`), for messages that must read as
 * the kubelet's do. Fractions of a millisecond are cut off.
 */
export function goDuration(durationMs: number): string {
  const total = Math.trunc(Math.abs(durationMs));
  const sign = durationMs < 0 && total > 0 ? "-" : "";
  if (total === 0) return "0s";
  if (total < 1000) return `${sign}${total}ms`;
  const hours = Math.floor(total / 3_600_000);
  const minutes = Math.floor(total / 60_000) % 60;
  const seconds = `${(total % 60_000) / 1000}s`;
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`;
}
