import { int64ToNumber, type Pod, type PodStatus } from "../api/index.ts";
import { parseRfc3339 } from "../pods/index.ts";

/**
 * How much of spec.activeDeadlineSeconds is left, counted from status.startTime; undefined when there is no deadline or the pod has not
 * started. Zero or less: exceeded.
 */
export function activeDeadline(
  pod: Pod,
  status: PodStatus | undefined,
  nowMs: number,
): { readonly remainingMs: number } | undefined {
  const seconds = pod.spec?.activeDeadlineSeconds;
  const startedMs = status?.startTime === undefined ? undefined : parseRfc3339(status.startTime);
  if (seconds === undefined || startedMs === undefined) return undefined;
  return { remainingMs: startedMs + int64ToNumber(seconds) * 1000 - nowMs };
}
