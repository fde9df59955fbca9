import {
  type Container,
  type ContainerStatus,
  findCondition,
  isTerminalPhase,
  type Pod,
  type PodStatus,
} from "../api/index.ts";
import { rfc3339 } from "../pods/timestamp.ts";
import { restartsAfterExit } from "../runtime/plan/restart-decision.ts";

/**
 * What is wrong with going from one status to the next: a container that ended and may not be restarted cannot live again. Undefined when nothing
 * is. Pods that restart always are not judged, nor are those with a rule that restarts all containers.
 */
export function illegalTransition(pod: Pod, from: PodStatus, to: PodStatus): string | undefined {
  const { containers = [], initContainers = [], restartPolicy } = pod.spec ?? {};
  if (restartPolicy === undefined || restartPolicy === "Always") return undefined;
  if ([...containers, ...initContainers].some(restartsAll)) return undefined;
  for (const container of containers) {
    const name = revived(pod, container, { from: from.containerStatuses, to: to.containerStatuses });
    if (name !== undefined) return `terminated container ${name} attempted illegal transition to non-terminated state`;
  }
  for (const container of initContainers) {
    const name = revived(pod, container, { from: from.initContainerStatuses, to: to.initContainerStatuses });
    if (name !== undefined)
      return `terminated init container ${name} attempted illegal transition to non-terminated state`;
  }
  return undefined;
}

/** The status with the phase that it may have after `from`: a terminal phase stays, with its reason and message. */
export function withFinalPhase(from: PodStatus | undefined, to: PodStatus): PodStatus {
  if (from === undefined || !isTerminalPhase(from.phase) || from.phase === to.phase) return to;
  const { reason: _reason, message: _message, ...rest } = to;
  return {
    ...rest,
    ...(from.phase !== undefined && { phase: from.phase }),
    ...(from.reason !== undefined && { reason: from.reason }),
    ...(from.message !== undefined && { message: from.message }),
  };
}

/** A status whose phase is terminal says neither Ready nor ContainersReady, whatever its containers looked like when it was computed. */
export function withTerminalReadiness(status: PodStatus, nowMs: number): PodStatus {
  if (!isTerminalPhase(status.phase) || status.conditions === undefined) return status;
  const stale = ["Ready", "ContainersReady"].filter(
    (type) => findCondition(status.conditions, type)?.status === "True",
  );
  if (stale.length === 0) return status;
  const reason = status.phase === "Succeeded" ? "PodCompleted" : "PodFailed";
  const conditions = status.conditions.map((condition) =>
    stale.includes(condition.type)
      ? { ...condition, status: "False", reason, lastTransitionTime: rfc3339(nowMs) }
      : condition,
  );
  return { ...status, conditions };
}

function revived(
  pod: Pod,
  container: Container,
  statuses: { readonly from: ContainerStatus[] | undefined; readonly to: ContainerStatus[] | undefined },
): string | undefined {
  const before = statuses.from?.find(({ name }) => name === container.name)?.state?.terminated;
  const after = statuses.to?.find(({ name }) => name === container.name);
  if (before === undefined || after === undefined || after.state?.terminated !== undefined) return undefined;
  return restartsAfterExit(pod, container, before.exitCode) ? undefined : container.name;
}

function restartsAll(container: Container): boolean {
  return (container.restartPolicyRules ?? []).some((rule) => rule.action === "RestartAllContainers");
}
