import type { PodStatus } from "../api/index.ts";
import { sameValue } from "../pods/same-value.ts";
import { parseRfc3339 } from "../pods/timestamp.ts";

/** Fields that hold a time. */
const TIME_FIELDS: ReadonlySet<string> = new Set([
  "lastTransitionTime",
  "lastProbeTime",
  "startedAt",
  "finishedAt",
  "startTime",
]);

/**
 * True when two statuses say the same: absent, null and empty are one, times count in whole seconds whatever their notation, conditions are a map by
 * type, and addresses and statuses keep their order. What is equal is never written again.
 */
export function sameStatus(left: PodStatus, right: PodStatus): boolean {
  return left === right || sameValue(normalized(left), normalized(right));
}

function normalized(status: PodStatus): unknown {
  const conditions = [...(status.conditions ?? [])].sort((left, right) =>
    left.type < right.type ? -1 : left.type > right.type ? 1 : 0,
  );
  return normal({ ...status, conditions }, "");
}

function normal(value: unknown, field: string): unknown {
  if (typeof value === "string") return TIME_FIELDS.has(field) ? wholeSeconds(value) : value;
  if (typeof value !== "object" || value === null) return value ?? undefined;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => normal(item, ""));
  const members = Object.entries(value).map(([key, member]) => [key, normal(member, key)] as const);
  const present = members.filter(([, member]) => member !== undefined);
  return present.length === 0 ? undefined : Object.fromEntries(present);
}

function wholeSeconds(time: string): string | number {
  const ms = parseRfc3339(time);
  return ms === undefined ? time : Math.floor(ms / 1000);
}
