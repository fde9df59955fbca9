import type { Pod } from "../api/index.ts";
import type { ObservedPod } from "./observed-pod.ts";

/** Result of a probe. */
export type ProbeOutcome = "success" | "failure" | "unknown";

/** Probe results as plan and status read them, by container id. undefined = that container has no probe of that type. */
export interface ProbeResults {
  liveness(containerId: string): ProbeOutcome | undefined;
  readiness(containerId: string): ProbeOutcome | undefined;
  startup(containerId: string): ProbeOutcome | undefined;
}

/** No container of the pod has a probe. */
export const NO_PROBES: ProbeResults = {
  liveness: () => undefined,
  readiness: () => undefined,
  startup: () => undefined,
};

/** One container's crash back-off as the ledger has it. */
export interface CrashBackOff {
  /** Length of the present window in milliseconds. */
  readonly durationMs: number;
  /** Wall time at which a start is allowed again. */
  readonly untilMs: number;
}

/** All that `plan` may look at. Nothing is fetched while planning. */
export interface PodSnapshot {
  /** The desired pod, with allocated resources substituted. */
  readonly pod: Pod;
  readonly observed: ObservedPod;
  readonly probes: ProbeResults;
  /** By container name; only containers that are in back-off now. */
  readonly crashBackOff: ReadonlyMap<string, CrashBackOff>;
  /** Highest attempt found in the log directory, by container name; only consulted when no instance is left. */
  readonly highestLogAttempt: ReadonlyMap<string, number>;
  /** Restart counts that a status already showed, by container name: a count never goes down, whatever was lost meanwhile. */
  readonly shownRestartCount?: ReadonlyMap<string, number>;
  /** Exit codes that the last status showed, by container name: a container that ended for good does not run again when the runtime lost it. */
  readonly shownExitCode?: ReadonlyMap<string, number>;
  /** Wall time. */
  readonly nowMs: number;
}
