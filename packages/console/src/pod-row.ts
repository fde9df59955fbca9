import type { ContainerStatus, DecisionRecord, Pod } from "@nodelet/core";
import { shortAge } from "./age.ts";
import type { Cell, Tone } from "./table.ts";

/** A pod as it is to be shown. */
export interface PodLook {
  /** With its status. */
  readonly pod: Pod;
  /** What its worker does, as the agent tells it: `syncing`, `terminating`, ... */
  readonly work?: string;
  readonly lastDecision?: DecisionRecord;
}

/** The cells of one pod. */
export interface PodRow {
  readonly uid: string;
  readonly pod: string;
  readonly phase: Cell;
  readonly ready: Cell;
  readonly restarts: string;
  readonly ip: string;
  readonly age: string;
  readonly decision: Cell;
  /** The condition Ready is true. */
  readonly isReady: boolean;
}

/** Reasons of a waiting container that say no more than `Pending`. */
const USUAL_WAITS = new Set(["ContainerCreating", "PodInitializing"]);
const PHASE_TONES: Readonly<Record<string, Tone>> = { Failed: "bad", Succeeded: "dim", Running: "good" };

/** What the table shows of a pod. `nowMs` is wall time. */
export function podRow(look: PodLook, options: { readonly nowMs: number }): PodRow {
  const { pod, lastDecision } = look;
  const { nowMs } = options;
  const containers = pod.status?.containerStatuses ?? [];
  const wanted = pod.spec?.containers?.length ?? containers.length;
  const ready = containers.filter((container) => container.ready).length;
  const born = pod.metadata?.creationTimestamp ?? pod.status?.startTime;
  return {
    uid: pod.metadata?.uid ?? "",
    pod: podName(pod),
    phase: phaseCell(look),
    ready: { text: `${ready}/${wanted}`, tone: readyTone({ pod, ready, wanted }) },
    restarts: restarts(containers, nowMs),
    ip: pod.status?.podIP ?? "",
    age: born === undefined || born === null ? "" : shortAge(nowMs - Date.parse(born)),
    decision: decisionCell(lastDecision),
    isReady: isPodReady(pod),
  };
}

/** True when the pod's condition Ready is. */
export function isPodReady(pod: Pod): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}

/** The name, with its namespace when that is not `default`. */
export function podName(pod: Pod): string {
  const { name = "", namespace = "default" } = pod.metadata ?? {};
  return namespace === "default" ? name : `${namespace}/${name}`;
}

function phaseCell({ pod, work }: PodLook): Cell {
  const phase = pod.status?.phase ?? "Pending";
  const isOver = phase === "Succeeded" || phase === "Failed";
  if (work === "terminating" || work === "terminated" || (work === "finished" && !isOver))
    return { text: "Terminating", tone: "busy" };
  const reason = troubleOf(pod);
  if (reason === undefined) return { text: phase, tone: PHASE_TONES[phase] ?? "busy" };
  return { text: `${phase} (${reason})`, tone: phase === "Succeeded" ? "dim" : "bad" };
}

/** The pod's own reason, else the first container's that says why it does not run. */
function troubleOf(pod: Pod): string | undefined {
  const { status } = pod;
  if (status?.reason !== undefined && status.reason !== "") return status.reason;
  if (status?.phase === "Succeeded") return undefined;
  for (const { state } of status?.containerStatuses ?? []) {
    const waiting = state?.waiting?.reason;
    if (waiting !== undefined && waiting !== "" && !USUAL_WAITS.has(waiting)) return waiting;
    const ended = state?.terminated;
    if (ended !== undefined && ended !== null) return ended.reason || `exit code ${ended.exitCode}`;
  }
  return undefined;
}

function readyTone(options: { readonly pod: Pod; readonly ready: number; readonly wanted: number }): Tone {
  const { pod, ready, wanted } = options;
  if (ready === wanted) return "good";
  return pod.status?.phase === "Succeeded" ? "dim" : "busy";
}

/** The sum over the containers, with the time since the last one as kubectl shows it. */
function restarts(containers: readonly ContainerStatus[], nowMs: number): string {
  const count = containers.reduce((sum, container) => sum + container.restartCount, 0);
  const ends = containers
    .filter((container) => container.restartCount > 0)
    .flatMap(({ lastState }) => lastState?.terminated?.finishedAt ?? [])
    .map((time) => Date.parse(time))
    .filter((time) => Number.isFinite(time));
  if (count === 0 || ends.length === 0) return String(count);
  return `${count} (${shortAge(nowMs - Math.max(...ends))} ago)`;
}

function decisionCell(record: DecisionRecord | undefined): Cell {
  if (record === undefined) return { text: "" };
  const container = record.container === undefined ? "" : `${record.container}: `;
  const again = record.count > 1 ? ` (x${record.count})` : "";
  const tone: Tone = record.outcome === "failed" || record.outcome === "rejected" ? "bad" : "plain";
  return { text: `${container}${record.message}${again}`, tone: record.outcome === "waiting" ? "busy" : tone };
}
