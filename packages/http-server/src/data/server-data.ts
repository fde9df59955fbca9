import type { DecisionRecord, Pod } from "@nodelet/core";

/** One thing that is well or not. */
export interface HealthCheck {
  /** As in the path: `/healthz/<name>`. */
  readonly name: string;
  /** Why it is not well, or undefined. Must answer at once. */
  check(): string | undefined;
}

/** What the listeners show of an agent. Functions answer with what is known at the call and never wait; what they throw becomes a 500. */
export interface NodeletServerData {
  /** Pods bound to this node, with their status. */
  pods(): readonly Pod[];
  /** Decisions, oldest first; `pod` narrows them to one pod by UID, `namespace/name` or name. */
  decisions(filter: { readonly pod?: string }): readonly DecisionRecord[];
  /** The configuration in force, as JSON data. Without secrets. */
  config(): unknown;
  /** How the agent is, as JSON data. */
  status(): unknown;
  healthChecks(): readonly HealthCheck[];
  /** Begins to stop the agent; the listener does not wait for the end. */
  stop(): void;
}
