import { type ContainerStatus, isSidecar, isTerminalPhase, type Pod, type PodStatus } from "../api/index.ts";
import { isStaticPod } from "../pods/index.ts";
import { lostWhenTerminated } from "./container-state.ts";
import { withTerminalReadiness } from "./transitions.ts";

/**
 * The last status of a pod of which nothing runs any more: containers that have no end of their own are said to be lost with exit code 137, never
 * 0, since nobody knows better; init containers that were never started are left waiting. A phase that is not terminal becomes Failed; static pods
 * keep theirs, as they may be made anew.
 */
export function terminalStatus(pod: Pod, status: PodStatus, nowMs: number): PodStatus {
  const init = status.initContainerStatuses ?? [];
  const tried = triedInit(init);
  const ended: PodStatus = {
    ...status,
    ...(status.containerStatuses && {
      containerStatuses: hasInitialized(pod, status) ? status.containerStatuses.map(lost) : status.containerStatuses,
    }),
    ...(status.initContainerStatuses && {
      initContainerStatuses: init.map((entry, at) => (at < tried ? lost(entry) : entry)),
    }),
  };
  if (isTerminalPhase(ended.phase) || isStaticPod(pod)) return withTerminalReadiness(ended, nowMs);
  return withTerminalReadiness({ ...ended, phase: "Failed" }, nowMs);
}

function lost(status: ContainerStatus): ContainerStatus {
  if (status.state?.terminated !== undefined) return status;
  return { ...status, state: { terminated: lostWhenTerminated() }, ready: false, started: false };
}

/** How many init containers, from the first, are known to have been tried: up to the last that did not merely wait, but at least one. */
function triedInit(statuses: readonly ContainerStatus[]): number {
  const last = statuses.findLastIndex(
    ({ state, lastState }) => state?.waiting === undefined || lastState?.terminated !== undefined,
  );
  return Math.min(statuses.length, Math.max(last + 1, 1));
}

function hasInitialized(pod: Pod, status: PodStatus): boolean {
  const init = pod.spec?.initContainers ?? [];
  const last = init.at(-1);
  if (last === undefined) return true;
  const moved = (status.containerStatuses ?? []).some(
    ({ state, lastState }) => state?.waiting === undefined || lastState?.terminated !== undefined,
  );
  if (moved) return true;
  const shown = (status.initContainerStatuses ?? []).find(({ name }) => name === last.name);
  if (isSidecar(last)) return shown?.state?.running !== undefined && shown.started === true;
  return shown?.state?.terminated?.exitCode === 0 || shown?.lastState?.terminated?.exitCode === 0;
}
