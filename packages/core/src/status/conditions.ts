import { type ContainerStatus, findCondition, type Pod, type PodCondition, type PodStatus } from "../api/index.ts";
import { rfc3339 } from "../pods/timestamp.ts";
import { type ContainerRoster, rosterOf } from "../runtime/plan/container-roster.ts";
import { sandboxDecision } from "../runtime/plan/sandbox-decision.ts";
import type { StatusSnapshot } from "./status-snapshot.ts";

/** Conditions that only a kubelet writes: what others write of these types is replaced. */
const OWN_TYPES: ReadonlySet<string> = new Set([
  "PodScheduled",
  "Ready",
  "Initialized",
  "ContainersReady",
  "PodReadyToStartContainers",
  "PodResizePending",
  "PodResizeInProgress",
  "AllContainersRestarting",
]);
const RESIZE_TYPES = ["PodResizePending", "PodResizeInProgress"];

/** True for condition types that only the node agent writes. */
export function isOwnCondition(type: string): boolean {
  return OWN_TYPES.has(type);
}

/** What conditions are computed from beside the snapshot. */
export interface ConditionInputs {
  readonly snapshot: StatusSnapshot;
  readonly phase: string;
  readonly containerStatuses: readonly ContainerStatus[];
  readonly initContainerStatuses: readonly ContainerStatus[];
}

type Verdict = Pick<PodCondition, "status" | "reason" | "message">;

/**
 * All conditions of a pod in upstream's order: those of others, resize, DisruptionTarget, PodReadyToStartContainers, Initialized, Ready,
 * ContainersReady, PodScheduled. A transition time only changes with the status.
 */
export function podConditions(inputs: ConditionInputs): PodCondition[] {
  const { snapshot } = inputs;
  const roster = rosterOf(snapshot.pod);
  const containersReady = containersReadyVerdict(inputs, roster);
  const readyToStart = sandboxDecision(snapshot.pod, snapshot.observed).kind === "keep";
  const kept = keptConditions(snapshot, inputs.phase);
  const own: readonly (readonly [string, Verdict])[] = [
    ["PodReadyToStartContainers", { status: readyToStart ? "True" : "False" }],
    ["Initialized", initializedVerdict(inputs, roster)],
    ["Ready", readyVerdict(snapshot.pod, containersReady, kept)],
    ["ContainersReady", containersReady],
    ["PodScheduled", { status: "True" }],
  ];
  return [...kept, ...own.map(([type, verdict]) => ownCondition(type, verdict, snapshot))];
}

/** The condition with the transition time that it must carry: the earlier one's while the status is the same. */
function withTransitionTime(condition: PodCondition, previous: PodStatus | undefined, nowMs: number): PodCondition {
  const before = findCondition(previous?.conditions, condition.type);
  const kept = before?.status === condition.status ? before.lastTransitionTime : undefined;
  return { ...condition, lastTransitionTime: kept ?? rfc3339(nowMs) };
}

function ownCondition(type: string, verdict: Verdict, snapshot: StatusSnapshot): PodCondition {
  const { generation } = snapshot.pod.metadata ?? {};
  const { status, reason, message } = verdict;
  const condition: PodCondition = {
    type,
    ...(generation !== undefined && { observedGeneration: generation }),
    status,
    lastProbeTime: null,
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
  };
  return withTransitionTime(condition, snapshot.previous, snapshot.nowMs);
}

function keptConditions(snapshot: StatusSnapshot, phase: string): PodCondition[] {
  const foreign = (snapshot.pod.status?.conditions ?? []).filter(
    ({ type }) => !OWN_TYPES.has(type) && type !== "DisruptionTarget",
  );
  const ended = phase === "Succeeded" || phase === "Failed";
  const resize = ended ? [] : resizeConditions(snapshot);
  const laid = (snapshot.kill?.conditions ?? []).map((condition) =>
    withTransitionTime({ lastProbeTime: null, ...condition }, snapshot.previous, snapshot.nowMs),
  );
  const disruption =
    findCondition(laid, "DisruptionTarget") ??
    findCondition(snapshot.previous?.conditions, "DisruptionTarget") ??
    findCondition(snapshot.pod.status?.conditions, "DisruptionTarget");
  const others = laid.filter(({ type }) => type !== "DisruptionTarget" && !OWN_TYPES.has(type));
  const kept = [...foreign.filter(({ type }) => findCondition(others, type) === undefined), ...others];
  return [...kept, ...resize, ...(disruption === undefined ? [] : [disruption])];
}

function resizeConditions(snapshot: StatusSnapshot): readonly PodCondition[] {
  const { resize, previous, nowMs } = snapshot;
  if (resize === undefined) {
    return RESIZE_TYPES.map((type) => findCondition(previous?.conditions, type)).filter((item) => item !== undefined);
  }
  if (resize.pending === undefined) return [];
  const { reason, message, observedGeneration } = resize.pending;
  const condition: PodCondition = {
    type: "PodResizePending",
    ...(observedGeneration !== undefined && { observedGeneration }),
    status: "True",
    lastProbeTime: null,
    reason,
    message,
  };
  return [withTransitionTime(condition, previous, nowMs)];
}

function initializedVerdict(inputs: ConditionInputs, roster: ContainerRoster): Verdict {
  const { initContainerStatuses: init, containerStatuses: regular, phase } = inputs;
  if (roster.init.length > 0 && init.length + regular.length === 0) return unknownStatuses();
  const unknown: string[] = [];
  const incomplete: string[] = [];
  for (const entry of roster.init) {
    const status = init.find(({ name }) => name === entry.name);
    if (status === undefined) unknown.push(entry.name);
    else if (entry.kind === "sidecar" ? status.started !== true : !status.ready) incomplete.push(entry.name);
  }
  if (phase === "Succeeded" && unknown.length === 0) return { status: "True", reason: "PodCompleted" };
  // A regular container that was started proves it, whatever became of the init containers since.
  if (regular.some(({ state }) => state?.running !== undefined || state?.terminated !== undefined))
    return { status: "True" };
  if (unknown.length + incomplete.length === 0) return { status: "True" };
  return {
    status: "False",
    reason: "ContainersNotInitialized",
    message: named({ "containers with unknown status": unknown, "containers with incomplete status": incomplete }),
  };
}

function containersReadyVerdict(inputs: ConditionInputs, roster: ContainerRoster): Verdict {
  const statuses = [...inputs.initContainerStatuses, ...inputs.containerStatuses];
  if (statuses.length === 0) return unknownStatuses();
  const unknown: string[] = [];
  const unready: string[] = [];
  for (const entry of [...roster.init.filter(({ kind }) => kind === "sidecar"), ...roster.regular]) {
    const status = statuses.find(({ name }) => name === entry.name);
    if (status === undefined) unknown.push(entry.name);
    else if (!status.ready) unready.push(entry.name);
  }
  if (inputs.phase === "Succeeded" && unknown.length === 0) return { status: "False", reason: "PodCompleted" };
  if (inputs.phase === "Failed") return { status: "False", reason: "PodFailed" };
  if (unknown.length + unready.length === 0) return { status: "True" };
  return {
    status: "False",
    reason: "ContainersNotReady",
    message: named({ "containers with unknown status": unknown, "containers with unready status": unready }),
  };
}

function readyVerdict(pod: Pod, containersReady: Verdict, conditions: readonly PodCondition[]): Verdict {
  if (containersReady.status !== "True") return containersReady;
  const unready: string[] = [];
  for (const { conditionType } of pod.spec?.readinessGates ?? []) {
    const status = findCondition(conditions, conditionType)?.status;
    if (status === undefined) {
      unready.push(`corresponding condition of pod readiness gate "${conditionType}" does not exist.`);
    } else if (status !== "True") {
      unready.push(`the status of pod readiness gate "${conditionType}" is not "True", but ${status}`);
    }
  }
  if (unready.length === 0) return { status: "True" };
  return { status: "False", reason: "ReadinessGatesNotReady", message: unready.join(", ") };
}

function unknownStatuses(): Verdict {
  return { status: "False", reason: "UnknownContainerStatuses" };
}

/** `containers with unready status: [a b]`, the parts that name somebody joined by ", ". */
function named(lists: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(lists)
    .filter(([, names]) => names.length > 0)
    .map(([what, names]) => `${what}: [${names.join(" ")}]`)
    .join(", ");
}
