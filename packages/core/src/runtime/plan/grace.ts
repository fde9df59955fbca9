import { type Container, type Int64, int64ToNumber, type Pod } from "../../api/index.ts";
import type { ObservedContainer } from "../observed-pod.ts";
import type { KillCode } from "../pod-plan.ts";

/** What a container gets when nothing says more; also the least that the runtime is ever given. */
export const MINIMUM_GRACE_SECONDS = 2;
const MAX_INT32 = 2_147_483_647;

/**
 * Whole grace in seconds for one kill: the override; else the deletion's grace; else, for kills after a failed liveness or startup probe, the
 * probe's own; else the pod's; else 2. Of a pod without spec (an orphan) the annotations that its containers carry are read instead.
 */
export function graceSeconds(options: {
  readonly pod: Pod;
  readonly container: Pick<Container, "livenessProbe" | "startupProbe"> | undefined;
  readonly instance: Pick<ObservedContainer, "annotations">;
  readonly code: KillCode;
  readonly overrideSeconds: number | undefined;
}): number {
  const { pod, container, instance, code, overrideSeconds } = options;
  if (overrideSeconds !== undefined) return bounded(overrideSeconds);
  const deletion =
    pod.metadata?.deletionGracePeriodSeconds ?? annotated(instance, "io.kubernetes.pod.deletionGracePeriod");
  if (deletion !== undefined) return bounded(deletion);
  const pods =
    pod.spec?.terminationGracePeriodSeconds ?? annotated(instance, "io.kubernetes.pod.terminationGracePeriod");
  if (pods === undefined) return MINIMUM_GRACE_SECONDS;
  const probe =
    code === "livenessFailed"
      ? container?.livenessProbe
      : code === "startupFailed"
        ? container?.startupProbe
        : undefined;
  return bounded(probe?.terminationGracePeriodSeconds ?? pods);
}

function annotated(instance: Pick<ObservedContainer, "annotations">, key: string): number | undefined {
  const text = Object.hasOwn(instance.annotations, key) ? instance.annotations[key] : undefined;
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}

function bounded(seconds: Int64): number {
  return Math.min(Math.max(int64ToNumber(seconds), 0), MAX_INT32);
}
