import type { KillStatus } from "../status/status-snapshot.ts";

/**
 * The life of a pod worker (facts of the kubelet's pod workers):
 *
 *     waiting -> syncing -> terminating -> terminated -> finished
 *
 * - `waiting`: a static pod whose namesake of another UID has not finished yet.
 * - `syncing`: the pod is brought to, and kept in, its desired state.
 * - `terminating`: everything of it is being stopped; it will never run again.
 * - `terminated`: nothing runs; what it held (cgroup, mounts) is being cleaned up.
 * - `finished`: nothing is left to do until the pod vanishes from its source.
 */
export type WorkerState =
  | { readonly phase: "waiting" }
  | { readonly phase: "syncing" }
  | { readonly phase: "terminating"; readonly termination: Termination }
  | { readonly phase: "terminated"; readonly termination: Termination }
  | { readonly phase: "finished"; readonly termination: Termination };

/** Name of a worker state. */
export type WorkerPhase = WorkerState["phase"];

/** Why and how a pod ends. */
export interface Termination {
  /** Effective grace in seconds; undefined = the container's own rules decide. Only ever shrinks. */
  readonly graceSeconds: number | undefined;
  /** What an eviction, deadline or preemption lays over the status. */
  readonly status: KillStatus | undefined;
  readonly evicted: boolean;
  /** The pod is no longer in any source, or its deletion was asked for: its content may go once it ended. */
  readonly deleted: boolean;
  readonly reason: TerminationReason;
}

/** `deleted`: its deletion was asked for. `removed`: it left its source. `terminal`: its phase is final. `killed`: eviction and the like. `orphan`: only the runtime knows it. */
export type TerminationReason = "deleted" | "removed" | "terminal" | "killed" | "orphan";

/** The only edges that exist. `waiting` may end without ever having run. */
export const LEGAL_EDGES: Readonly<Record<WorkerPhase, readonly WorkerPhase[]>> = {
  waiting: ["syncing", "terminating"],
  syncing: ["terminating"],
  terminating: ["terminated"],
  terminated: ["finished"],
  finished: [],
};

/** The next state, or an error: a jump that the table does not have is a fault in the caller. */
export function moveTo(from: WorkerState, to: WorkerState): WorkerState {
  if (!LEGAL_EDGES[from.phase].includes(to.phase))
    throw new Error(`illegal pod worker transition ${from.phase} -> ${to.phase}`);
  return to;
}

/** Smallest grace that a pod worker gives. */
const MINIMUM_GRACE_SECONDS = 1;

/**
 * Effective grace of a termination: the least of what was set before, the deletion grace and the kill's override; without any of them the
 * spec's. At least 1 s. Once set it only shrinks.
 */
export function effectiveGrace(sources: {
  readonly current: number | undefined;
  readonly deletionGraceSeconds: number | undefined;
  readonly overrideSeconds: number | undefined;
  readonly specSeconds: number | undefined;
}): number {
  const set = [
    sources.current === 0 ? undefined : sources.current,
    sources.deletionGraceSeconds,
    sources.overrideSeconds,
  ].filter((value) => value !== undefined);
  const grace = set.length > 0 ? Math.min(...set) : (sources.specSeconds ?? MINIMUM_GRACE_SECONDS);
  return Math.max(grace, MINIMUM_GRACE_SECONDS);
}
