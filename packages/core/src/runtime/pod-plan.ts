/**
 * A plan for one pod: a small graph of steps. `needs` names steps that must have succeeded, `after` steps that must have ended, whatever
 * came of them. Steps carry decisions only; the requests are built by pure functions once the late inputs (sandbox id, pod IPs, image
 * reference and user) are there.
 */
export interface PodPlan {
  readonly steps: readonly PlanStep[];
  /** Containers that may not start yet, with the reason that their status shows. */
  readonly waiting: readonly WaitingContainer[];
  /** True when the whole pod is taken down because nothing in it shall run any more. */
  readonly killPod: boolean;
}

/** One step of a plan. */
export type PlanStep =
  | KillContainerStep
  | RemoveContainerStep
  | StopSandboxStep
  | RunSandboxStep
  | EnsureImageStep
  | CreateContainerStep
  | StartContainerStep;

interface StepBase {
  /** Unique in the plan, for example `start:app`. */
  readonly id: string;
  readonly needs: readonly string[];
  readonly after: readonly string[];
}

/** Which part a container plays in its pod. */
export type ContainerKind = "init" | "sidecar" | "regular" | "ephemeral";

/**
 * - `deleted`: the pod ends by request (deletion, eviction, removal). `podDone`: nothing in it shall run any more.
 * - `sandboxLost`: its sandbox no longer serves. `duplicate`: another instance of the same name is newer; one of them has to go.
 * - `unknownState`: the runtime does not know its state, so it is stopped before a new instance starts.
 */
export type KillCode =
  | "deleted"
  | "podDone"
  | "definitionChanged"
  | "livenessFailed"
  | "startupFailed"
  | "postStartFailed"
  | "resizeRestart"
  | "sandboxLost"
  | "unknownState"
  | "duplicate";

/** Why a container is killed; the message of its Killing event. */
export interface KillReason {
  readonly code: KillCode;
  readonly message: string;
}

/** Stop a container with a grace. */
export interface KillContainerStep extends StepBase {
  readonly kind: "killContainer";
  readonly containerId: string;
  readonly containerName: string;
  readonly containerKind: ContainerKind;
  readonly reason: KillReason;
  /** Whole grace in seconds, preStop and waiting included; the runtime is given what is left of it, at least 2. */
  readonly graceSeconds: number;
  /**
   * Kill steps whose end the stop call waits for, at most until the grace is used up (KEP-753: sidecars stop last). The step itself begins at
   * once: its Killing event and its preStop hook do not wait.
   */
  readonly stopAfter: readonly string[];
}

/** Remove a container that does not run. */
export interface RemoveContainerStep extends StepBase {
  readonly kind: "removeContainer";
  readonly containerId: string;
  readonly containerName: string;
}

/** Stop a sandbox. */
export interface StopSandboxStep extends StepBase {
  readonly kind: "stopSandbox";
  readonly sandboxId: string;
}

/** Make the pod's sandbox. */
export interface RunSandboxStep extends StepBase {
  readonly kind: "runSandbox";
  readonly attempt: number;
  /** Set when an existing sandbox is replaced: the SandboxChanged event is told. */
  readonly replaces: string | undefined;
}

/** See to it that a container's image is there. */
export interface EnsureImageStep extends StepBase {
  readonly kind: "ensureImage";
  readonly containerName: string;
  readonly containerKind: ContainerKind;
}

/** Create a container in the sandbox. */
export interface CreateContainerStep extends StepBase {
  readonly kind: "createContainer";
  readonly containerName: string;
  readonly containerKind: ContainerKind;
  /** Restart count and CRI attempt of the new instance. */
  readonly restartCount: number;
  /** The serving sandbox; undefined when a runSandbox step of this plan makes it. */
  readonly sandboxId: string | undefined;
}

/** Start the container that the plan created. */
export interface StartContainerStep extends StepBase {
  readonly kind: "startContainer";
  readonly containerName: string;
  readonly containerKind: ContainerKind;
}

/** A container that may not start before a time. */
export interface WaitingContainer {
  readonly containerName: string;
  readonly reason: "CrashLoopBackOff";
  readonly message: string;
  /** Wall time at which it may start. */
  readonly untilMs: number;
}
