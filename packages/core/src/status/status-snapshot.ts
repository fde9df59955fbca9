import type { Int64, Pod, PodCondition, PodStatus } from "../api/index.ts";
import type { ObservedPod } from "../runtime/observed-pod.ts";
import type { ProbeResults } from "../runtime/pod-snapshot.ts";

/** A failure to bring a container up that its status shows as waiting (CrashLoopBackOff, ErrImagePull, CreateContainerError, ...). */
export interface StartError {
  readonly reason: string;
  readonly message: string;
}

/** What a kill request lays over the status: eviction, deadline, preemption, node shutdown. */
export interface KillStatus {
  readonly phase?: "Failed" | "Succeeded";
  readonly reason?: string;
  readonly message?: string;
  readonly conditions?: readonly PodCondition[];
}

/** A resize that was asked for and is not carried out: the condition PodResizePending (KEP-1287). */
export interface PendingResize {
  readonly reason: "Deferred" | "Infeasible";
  readonly message: string;
  /** Generation of the pod that asked for it. */
  readonly observedGeneration?: Int64;
}

/** What a status says of resizes. */
export interface ResizeState {
  readonly pending: PendingResize | undefined;
}

/** Everything that a pod's status is computed from. Nothing else is consulted. */
export interface StatusSnapshot {
  readonly pod: Pod;
  readonly observed: ObservedPod;
  /** The last status that we computed or, after a restart, that the API (or the source) holds. */
  readonly previous: PodStatus | undefined;
  readonly probes: ProbeResults;
  /** By container name. */
  readonly startErrors: ReadonlyMap<string, StartError>;
  readonly kill: KillStatus | undefined;
  /** Absent: what the previous status says of resizes is carried. */
  readonly resize?: ResizeState;
  /** The pod worker says that nothing of the pod will run again. */
  readonly isTerminal: boolean;
  /** Node addresses, primary family first. */
  readonly nodeIps: readonly string[];
  /** Runtime name for container ids (`containerd`). */
  readonly runtimeName: string;
  /** The pod's runtime handler can mount read-only recursively (KEP-3857). Default false. */
  readonly recursiveReadOnlyMounts?: boolean;
  /** Wall time. */
  readonly nowMs: number;
}
