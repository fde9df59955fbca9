import {
  type ContainerStatus,
  formatResourceList,
  isTerminalPhase,
  type Pod,
  type PodStatus,
  podLimits,
  podRequests,
  qosClassOf,
} from "../api/index.ts";
import { rfc3339 } from "../pods/timestamp.ts";
import { servingSandbox } from "../runtime/observed-pod.ts";
import { type RosterEntry, rosterOf } from "../runtime/plan/container-roster.ts";
import { podConditions } from "./conditions.ts";
import { type ContainerStatusContext, containerStatus } from "./container-status.ts";
import { podPhase } from "./phase.ts";
import { podAddresses } from "./pod-ips.ts";
import type { KillStatus, StatusSnapshot } from "./status-snapshot.ts";
import { limitTerminationMessages } from "./termination-limits.ts";

/**
 * The status of a pod, from its snapshot alone. A phase that was terminal, in the last status or in the API, is never left; reason and message stay
 * while the phase does. Times have whole seconds.
 */
export function computePodStatus(snapshot: StatusSnapshot): PodStatus {
  const { pod, previous, kill } = snapshot;
  const statuses = containerStatuses(snapshot);
  const lived: PodStatus = { ...statuses, ...phaseOf(snapshot, statuses) };
  const wasTerminal = isTerminalPhase(previous?.phase) || isTerminalPhase(pod.status?.phase);
  const ended = wasTerminal ? lived : layOver(lived, kill);
  const { phase = "Pending" } = ended;
  const { containerStatuses: regular = [], initContainerStatuses: init = [] } = statuses;
  const conditions = podConditions({ snapshot, phase, containerStatuses: regular, initContainerStatuses: init });
  const generation = observedGeneration(pod, previous);
  return limitTerminationMessages(pod, {
    ...(generation !== undefined && { observedGeneration: generation }),
    ...ended,
    conditions,
    ...podAddresses(snapshot),
    startTime: previous?.startTime ?? pod.status?.startTime ?? rfc3339(snapshot.nowMs),
    qosClass: qosClassOf(pod),
    ...podResources(pod),
  });
}

/** The status of a pod that admission turned away: nothing of it was ever made. */
export function rejectedStatus(options: {
  readonly pod: Pod;
  /** The handler's reason (`OutOfcpu`) and its message without prefix. */
  readonly reason: string;
  readonly message: string;
  /** The status that the pod came with. Default: the one in the object. */
  readonly previous?: PodStatus | undefined;
  readonly nowMs: number;
}): PodStatus {
  const { pod, reason, message, nowMs } = options;
  const previous = options.previous ?? pod.status;
  const generation = observedGeneration(pod, previous);
  return {
    ...(generation !== undefined && { observedGeneration: generation }),
    phase: "Failed",
    reason,
    message: `Pod was rejected: ${message}`,
    startTime: previous?.startTime ?? rfc3339(nowMs),
    qosClass: qosClassOf(pod),
  };
}

type ContainerStatuses = Pick<PodStatus, "containerStatuses" | "initContainerStatuses" | "ephemeralContainerStatuses">;

function containerStatuses(snapshot: StatusSnapshot): ContainerStatuses {
  const { pod, observed, previous } = snapshot;
  const roster = rosterOf(pod);
  const known = [
    ...(previous?.ephemeralContainerStatuses ?? []),
    ...(previous?.containerStatuses ?? []),
    ...(previous?.initContainerStatuses ?? []),
  ];
  const regularNames = new Set(roster.regular.map((entry) => entry.name));
  const context: ContainerStatusContext = {
    snapshot,
    podInitialised: observed.containers.some((instance) => regularNames.has(instance.name)),
    previous: new Map(known.map((status) => [status.name, status])),
  };
  const of = (entries: readonly RosterEntry[]): ContainerStatus[] =>
    entries.map((entry) => containerStatus(entry, context));
  const init = of(roster.init);
  const ephemeral = of(roster.ephemeral).sort(byName);
  return {
    ...(init.length > 0 && { initContainerStatuses: init }),
    containerStatuses: of(roster.regular).sort(byName),
    ...(ephemeral.length > 0 && { ephemeralContainerStatuses: ephemeral }),
  };
}

function phaseOf(
  snapshot: StatusSnapshot,
  statuses: ContainerStatuses,
): Pick<PodStatus, "phase" | "reason" | "message"> {
  const { pod, previous, isTerminal } = snapshot;
  const computed = podPhase({
    pod,
    containerStatuses: statuses.containerStatuses ?? [],
    initContainerStatuses: statuses.initContainerStatuses ?? [],
    isTerminal,
    hasInitialized: hasInitialized(snapshot),
  });
  // What the API holds as terminal wins over what we held, and both over what the containers say.
  const final = [pod.status?.phase, previous?.phase].find(isTerminalPhase);
  const phase = final ?? computed;
  if (phase !== previous?.phase) return { phase };
  const reason = previous.reason ?? pod.status?.reason;
  const message = previous.message ?? pod.status?.message;
  return { phase, ...(reason !== undefined && { reason }), ...(message !== undefined && { message }) };
}

/** Some regular container was started in the serving sandbox. */
function hasInitialized(snapshot: StatusSnapshot): boolean {
  const serving = servingSandbox(snapshot.observed);
  const regular = new Set((snapshot.pod.spec?.containers ?? []).map((container) => container.name));
  return snapshot.observed.containers.some(
    (instance) =>
      regular.has(instance.name) &&
      instance.sandboxId === serving?.id &&
      (instance.state === "running" || instance.startedAtMs !== undefined),
  );
}

/** Lays a kill's phase, reason and message over a status that was not told to have ended; what succeeded meanwhile did succeed. */
function layOver(status: PodStatus, kill: KillStatus | undefined): PodStatus {
  if (kill === undefined || status.phase === "Succeeded") return status;
  const { phase, reason, message } = kill;
  return {
    ...status,
    ...(phase !== undefined && { phase }),
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
  };
}

/** Generation of the pod that the status was computed from; never less than what was shown before. */
function observedGeneration(pod: Pod, previous: PodStatus | undefined): PodStatus["observedGeneration"] {
  const { generation } = pod.metadata ?? {};
  const shown = previous?.observedGeneration;
  if (generation === undefined || shown === undefined) return generation ?? shown;
  return shown > generation ? shown : generation;
}

/** Resources of the whole pod as allocated (KEP-2837, KEP-5419), overhead included. */
function podResources(pod: Pod): Pick<PodStatus, "resources" | "allocatedResources"> {
  const requests = formatResourceList(podRequests(pod));
  const limits = formatResourceList(podLimits(pod));
  const hasRequests = Object.keys(requests).length > 0;
  return {
    ...(hasRequests && { allocatedResources: requests }),
    resources: { ...(Object.keys(limits).length > 0 && { limits }), ...(hasRequests && { requests: { ...requests } }) },
  };
}

function byName(left: ContainerStatus, right: ContainerStatus): number {
  return left.name < right.name ? -1 : left.name > right.name ? 1 : 0;
}
