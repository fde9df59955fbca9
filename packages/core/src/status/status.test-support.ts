import type { ContainerState, ContainerStatus, Pod } from "../api/index.ts";
import { NOW_MS } from "../runtime/observed-pod.test-support.ts";
import type { ObservedPod } from "../runtime/observed-pod.ts";
import { NO_PROBES } from "../runtime/pod-snapshot.ts";
import type { StatusSnapshot } from "./status-snapshot.ts";

/** A snapshot to compute a status from. */
export function statusSnapshot(pod: Pod, observed: ObservedPod, more: Partial<StatusSnapshot> = {}): StatusSnapshot {
  return {
    pod,
    observed,
    previous: undefined,
    probes: NO_PROBES,
    startErrors: new Map(),
    kill: undefined,
    isTerminal: false,
    nodeIps: ["192.0.2.10"],
    runtimeName: "containerd",
    nowMs: NOW_MS,
    ...more,
  };
}

/** A container's status with that state. */
export function statusOf(name: string, state: ContainerState, more: Partial<ContainerStatus> = {}): ContainerStatus {
  return { name, state, lastState: {}, ready: false, restartCount: 0, image: "", imageID: "", ...more };
}

export const RUNNING: ContainerState = { running: { startedAt: "2026-01-01T00:00:00Z" } };
export const WAITING: ContainerState = { waiting: { reason: "ContainerCreating" } };

/** A state that ended with this exit code. */
export function ended(exitCode: number, more: Partial<ContainerState["terminated"] & object> = {}): ContainerState {
  return { terminated: { exitCode, ...more } };
}
