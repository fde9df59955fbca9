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

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
/** Go's durations are 64 bits of nanoseconds: about 292 years. */
const MAX_DURATION_MS = Number(2n ** 63n - 1n) / 1e6;

/**
 * Reads a time span as Go's `time.ParseDuration` does: `300ms`, `-1.5h`, `2h45m`, `0`; milliseconds. Undefined when it is none.
 */
export function parseGoDuration(text: string): number | undefined {
  const groups = /^(?<sign>[-+]?)(?<rest>.+)$/s.exec(text)?.groups;
  const rest = groups?.["rest"] ?? "";
  if (rest === "0") return 0;
  if (!/^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(rest)) return undefined;
  let total = 0;
  for (const [, number, unit] of rest.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g))
    total += Number(number) * (UNIT_MS[unit ?? ""] ?? 0);
  if (total > MAX_DURATION_MS) return undefined;
  return groups?.["sign"] === "-" ? -total : total;
}
