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
  return left === right || same(byConditionType(left), byConditionType(right), "");
}

function byConditionType(status: PodStatus): PodStatus {
  if ((status.conditions ?? []).length < 2) return status;
  const conditions = [...(status.conditions ?? [])].sort((left, right) =>
    left.type < right.type ? -1 : left.type > right.type ? 1 : 0,
  );
  return { ...status, conditions };
}

/** Compares without making anything: it is asked several times in each sync of each pod. */
function same(left: unknown, right: unknown, field: string): boolean {
  if (left === right) return true;
  if (saysNothing(left) || saysNothing(right)) return saysNothing(left) && saysNothing(right);
  if (typeof left === "string" && typeof right === "string")
    return TIME_FIELDS.has(field) && wholeSeconds(left) === wholeSeconds(right);
  if (typeof left !== "object" || typeof right !== "object") return sameValue(left, right);
  if (Array.isArray(left) || Array.isArray(right))
    return Array.isArray(left) && Array.isArray(right) && sameItems(left, right);
  return sameMembers(left as Members, right as Members);
}

type Members = Readonly<Record<string, unknown>>;

function sameItems(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((item, index) => same(item, right[index], ""));
}

function sameMembers(left: Members, right: Members): boolean {
  for (const key of Object.keys(left)) {
    if (!same(left[key], Object.hasOwn(right, key) ? right[key] : undefined, key)) return false;
  }
  return Object.keys(right).every((key) => Object.hasOwn(left, key) || saysNothing(right[key]));
}

/** Absent, null, an empty list, or an object of nothing else. */
function saysNothing(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === undefined || value === null;
  return Array.isArray(value) ? value.length === 0 : Object.values(value).every(saysNothing);
}

function wholeSeconds(time: string): string | number {
  const ms = parseRfc3339(time);
  return ms === undefined ? time : Math.floor(ms / 1000);
}
