import type { LogValue } from "../ports/logger.ts";

/** What was decided. */
export type DecisionAction =
  | "admit"
  | "reject"
  | "start"
  | "create"
  | "keep"
  | "kill"
  | "restart"
  | "backOff"
  | "pull"
  | "sandbox"
  | "adopt"
  | "terminate"
  | "finish"
  | "remove"
  | "ignore"
  | "retry"
  | "node";

/** What names a pod: UID, name and namespace. */
export interface PodRef {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
}

/** The event that goes with a decision. */
export interface DecisionEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/**
 * One decision: what, about whom, from which inputs, with which outcome, and when it is tried next. Event, log line, status reason and
 * `nodelet explain` are views of it. Never holds secrets, tokens or values of environment variables.
 */
export interface Decision {
  readonly action: DecisionAction;
  readonly pod?: PodRef;
  readonly container?: string;
  /** Prefix of the event's fieldPath: containers, initContainers or ephemeralContainers. Default containers. */
  readonly containerField?: "containers" | "initContainers" | "ephemeralContainers";
  /** Short stable reason, the kubelet's own where it has one (`CrashLoopBackOff`, `ErrImagePull`, `OutOfcpu`). */
  readonly reason: string;
  /** One sentence for people. */
  readonly message: string;
  /** The values that led to it. */
  readonly inputs?: Readonly<Record<string, LogValue>>;
  readonly outcome: "ok" | "failed" | "waiting" | "rejected";
  /** Wall time of the next try, when there is one. */
  readonly nextTryMs?: number;
  readonly event?: DecisionEvent;
  /** What it tells was over in between: it is kept and told anew, not counted as a repeat. Not part of the record. */
  readonly isNews?: boolean;
}

/** A decision as kept: numbered and dated. */
export interface DecisionRecord extends Decision {
  readonly seq: number;
  /** Wall time, milliseconds since the epoch. */
  readonly atMs: number;
  /** How often the same decision (all but inputs and times) came in a row, or in turn with a few others. */
  readonly count: number;
}

/** Takes decisions; what every deciding part of core is given. */
export interface DecisionSink {
  record(decision: Decision): void;
}
