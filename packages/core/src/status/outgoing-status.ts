import { type ContainerStatus, findCondition, isTerminalPhase, type PodStatus } from "../api/index.ts";
import { isOwnCondition } from "./conditions.ts";
import { sameStatus } from "./equality.ts";

/**
 * What a sink is told of a status. The end of a pod is withheld while a container of it may still run: till then the phase, reason and message that
 * were told last stay, and so does the absence of DisruptionTarget.
 */
export function outgoingStatus(status: PodStatus, told: PodStatus | undefined): PodStatus {
  if (!isTerminalPhase(status.phase) || isTerminalPhase(told?.phase) || !anyRuns(status)) return status;
  const { reason: _reason, message: _message, conditions = [], ...rest } = status;
  const hadDisruption = findCondition(told?.conditions, "DisruptionTarget") !== undefined;
  return {
    ...rest,
    conditions: hadDisruption ? conditions : conditions.filter(({ type }) => type !== "DisruptionTarget"),
    phase: told?.phase ?? "Pending",
    ...(told?.reason !== undefined && { reason: told.reason }),
    ...(told?.message !== undefined && { message: told.message }),
  };
}

/** True when what a source shows of a pod's status differs from ours in what is ours to say. */
export function needsReconcile(ours: PodStatus, shown: PodStatus): boolean {
  return !sameStatus(ownPart(ours), ownPart(shown));
}

function anyRuns(status: PodStatus): boolean {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = status;
  const runs = ({ state }: ContainerStatus): boolean => state?.running !== undefined;
  return [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses].some(runs);
}

/** Without other writers' conditions and the claim statuses that only the API server's other clients write. */
function ownPart(status: PodStatus): PodStatus {
  const {
    resourceClaimStatuses: _claims,
    extendedResourceClaimStatus: _extended,
    nodeAllocatableResourceClaimStatuses: _allocatable,
    nominatedNodeName: _nominated,
    conditions = [],
    ...own
  } = status;
  return { ...own, conditions: conditions.filter(({ type }) => isOwnCondition(type) || type === "DisruptionTarget") };
}
