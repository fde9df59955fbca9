const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** A time span as kubectl shows ages: `45s`, `3m20s`, `15m`, `4h10m`, `2d3h`, `1y20d`. A span below zero is `0s`. */
export function shortAge(ageMs: number): string {
  const seconds = Math.max(0, Math.floor(ageMs / 1000));
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return pair(seconds, { unit: MINUTE, name: "m" }, { unit: 1, name: "s" });
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return pair(seconds, { unit: HOUR, name: "h" }, { unit: MINUTE, name: "m" });
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`;
  if (seconds < 8 * DAY) return pair(seconds, { unit: DAY, name: "d" }, { unit: HOUR, name: "h" });
  if (seconds < 2 * YEAR) return `${Math.floor(seconds / DAY)}d`;
  if (seconds < 8 * YEAR) return pair(seconds, { unit: YEAR, name: "y" }, { unit: DAY, name: "d" });
  return `${Math.floor(seconds / YEAR)}y`;
}

interface Unit {
  readonly unit: number;
  readonly name: string;
}

function pair(seconds: number, large: Unit, small: Unit): string {
  const whole = Math.floor(seconds / large.unit);
  const rest = Math.floor((seconds - whole * large.unit) / small.unit);
  return rest === 0 ? `${whole}${large.name}` : `${whole}${large.name}${rest}${small.name}`;
}
