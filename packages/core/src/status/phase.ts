import type { Container, ContainerStatus, Pod } from "../api/index.ts";
import { isStaticPod } from "../pods/index.ts";
import { rosterOf } from "../runtime/plan/container-roster.ts";
import { restartsAfterExit } from "../runtime/plan/restart-decision.ts";

/** Phase of a pod. */
export type PodPhase = "Pending" | "Running" | "Succeeded" | "Failed";

/** What the phase is computed from: statuses as they will be shown. */
export interface PhaseInputs {
  readonly pod: Pod;
  readonly containerStatuses: readonly ContainerStatus[];
  readonly initContainerStatuses: readonly ContainerStatus[];
  /** Nothing of the pod will run again. */
  readonly isTerminal: boolean;
  /** Some regular container was started in the serving sandbox. */
  readonly hasInitialized: boolean;
}

/**
 * The phase that the containers of a pod amount to. What was terminal before is not looked at here.
 *
 * A failed plain init container that is not restarted fails the pod. Plain init containers that are not done, sidecars that have not started up in a
 * pod that never was initialised, and containers that wait for their first start leave it Pending. Then something runs, or all has stopped: with
 * nothing left to restart all exit codes 0 succeed and anything else fails. Static pods do not end merely because they are told to.
 */
export function podPhase(inputs: PhaseInputs): PodPhase {
  const init = countInit(inputs);
  const regular = countRegular(inputs);
  if (init.failedForGood > 0) return "Failed";
  if (init.pending > 0 || (init.pendingSidecars > 0 && !inputs.hasInitialized)) return "Pending";
  const waiting = init.waiting + regular.waiting;
  const running = init.running + regular.running;
  const unknown = init.unknown + regular.unknown;
  if (waiting > 0) return "Pending";
  if (running > 0 && unknown === 0) return "Running";
  if (running > 0 || regular.stopped === 0 || unknown > 0) return "Pending";
  const ended: PodPhase = regular.stopped === regular.succeeded ? "Succeeded" : "Failed";
  if (inputs.isTerminal && !isStaticPod(inputs.pod)) return ended;
  return regular.stopped > regular.stoppedForGood ? "Running" : ended;
}

function countInit(inputs: PhaseInputs): {
  failedForGood: number;
  pending: number;
  pendingSidecars: number;
  waiting: number;
  running: number;
  unknown: number;
} {
  const counts = { failedForGood: 0, pending: 0, pendingSidecars: 0, waiting: 0, running: 0, unknown: 0 };
  for (const entry of rosterOf(inputs.pod).init) {
    const status = inputs.initContainerStatuses.find((candidate) => candidate.name === entry.name);
    const state = status?.state ?? {};
    const last = status?.lastState?.terminated;
    if (entry.kind === "init") {
      const ended = state.terminated ?? (state.waiting === undefined ? undefined : last);
      if (ended === undefined) counts.pending += 1;
      else if (ended.exitCode !== 0 && !restartsAfterExit(inputs.pod, entry.container as Container, ended.exitCode)) {
        counts.failedForGood += 1;
      }
    } else if (status === undefined) counts.unknown += 1;
    else if (state.running !== undefined) {
      counts.running += 1;
      if (status.started !== true) counts.pendingSidecars += 1;
    } else if (state.terminated !== undefined || (state.waiting !== undefined && last !== undefined)) continue;
    else {
      counts.pendingSidecars += 1;
      if (state.waiting !== undefined) counts.waiting += 1;
      else counts.unknown += 1;
    }
  }
  return counts;
}

function countRegular(inputs: PhaseInputs): {
  waiting: number;
  running: number;
  unknown: number;
  stopped: number;
  succeeded: number;
  stoppedForGood: number;
} {
  const counts = { waiting: 0, running: 0, unknown: 0, stopped: 0, succeeded: 0, stoppedForGood: 0 };
  for (const container of inputs.pod.spec?.containers ?? []) {
    const status = inputs.containerStatuses.find((candidate) => candidate.name === container.name);
    const { running, terminated, waiting } = status?.state ?? {};
    if (running !== undefined) counts.running += 1;
    else if (terminated !== undefined) {
      counts.stopped += 1;
      if (terminated.exitCode === 0) counts.succeeded += 1;
      if (!restartsAfterExit(inputs.pod, container, terminated.exitCode)) counts.stoppedForGood += 1;
    } else if (waiting === undefined) counts.unknown += 1;
    else if (status?.lastState?.terminated !== undefined) counts.stopped += 1;
    else counts.waiting += 1;
  }
  return counts;
}
