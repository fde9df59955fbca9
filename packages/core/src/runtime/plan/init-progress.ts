import type { Container } from "../../api/index.ts";
import type { ObservedContainer } from "../observed-pod.ts";
import type { KillReason } from "../pod-plan.ts";
import type { PodSnapshot } from "../pod-snapshot.ts";
import type { ContainerRoster, RosterEntry } from "./container-roster.ts";
import { restartsAfterExit } from "./restart-decision.ts";
import { hasStarted, sidecarFault, unknownState } from "./running-check.ts";

/** How far a pod's initialisation is in its serving sandbox, and what it needs next. */
export interface InitProgress {
  /** `failed`: an init container failed for good, so the pod is taken down. */
  readonly state: "initialised" | "inProgress" | "failed";
  /** Init containers and sidecars to start, in the order of the spec. */
  readonly starts: readonly RosterEntry[];
  readonly kills: readonly { readonly instance: ObservedContainer; readonly reason: KillReason }[];
}

/** Exit code that a container which cannot be asked any more counts with. */
const KILLED_EXIT_CODE = 137;

/**
 * Judges the init containers from last to first, so that an init container which finished and was removed from the runtime is not run again.
 * Only instances in the serving sandbox count: what an earlier sandbox had started says nothing about this one (after a reboot the runtime may
 * still list a created container of the old one). Any regular container in the serving sandbox, exited ones too, proves that every plain init
 * container is done.
 */
export function initProgress(options: {
  readonly snapshot: PodSnapshot;
  readonly roster: ContainerRoster;
  /** Newest instance of that name in the serving sandbox. */
  readonly instanceOf: (name: string) => ObservedContainer | undefined;
}): InitProgress {
  const { roster, instanceOf } = options;
  const last = roster.init.at(-1);
  if (last === undefined) return { state: "initialised", starts: [], kills: [] };
  const regular = roster.regular.map((entry) => instanceOf(entry.name)).filter((instance) => instance !== undefined);
  const alive = regular.some((instance) => instance.state === "created" || instance.state === "running");
  const walk = new InitWalk(options.snapshot, roster.init, {
    passed: regular.length > 0,
    initialised: alive || (regular.length > 0 && last.kind === "init"),
  });
  for (let at = roster.init.length - 1; at >= 0; at -= 1) {
    const entry = roster.init[at] as RosterEntry;
    if (!walk.judge(entry, at, instanceOf(entry.name))) return { state: "failed", starts: [], kills: [] };
  }
  return walk.result();
}

class InitWalk {
  readonly #snapshot: PodSnapshot;
  readonly #entries: readonly RosterEntry[];
  readonly #starts = new Set<number>();
  readonly #kills: { readonly instance: ObservedContainer; readonly reason: KillReason }[] = [];
  /** A later container, or a regular one, was started before: what stands before it was initialised once. */
  #passed: boolean;
  #initialised: boolean;

  constructor(
    snapshot: PodSnapshot,
    entries: readonly RosterEntry[],
    initial: { readonly passed: boolean; readonly initialised: boolean },
  ) {
    this.#snapshot = snapshot;
    this.#entries = entries;
    this.#passed = initial.passed;
    this.#initialised = initial.initialised;
  }

  result(): InitProgress {
    // Nothing was ever started: begin with the first.
    if (!this.#passed) this.#starts.add(0);
    const starts = [...this.#starts].sort((left, right) => left - right).map((at) => this.#entries[at] as RosterEntry);
    return { state: this.#initialised ? "initialised" : "inProgress", starts, kills: this.#kills };
  }

  /** Judges one container; false when the pod can never be initialised. */
  judge(entry: RosterEntry, at: number, instance: ObservedContainer | undefined): boolean {
    if (instance === undefined) {
      if (this.#passed && entry.kind === "sidecar") this.#starts.add(at);
      return true;
    }
    if (this.#passed && entry.kind === "init") return true;
    const possible = entry.kind === "sidecar" ? this.#sidecar(entry, at, instance) : this.#plain(entry, at, instance);
    this.#passed = true;
    return possible;
  }

  #plain(entry: RosterEntry, at: number, instance: ObservedContainer): boolean {
    const container = entry.container as Container;
    const { pod } = this.#snapshot;
    switch (instance.state) {
      case "created":
        this.#starts.add(at);
        return true;
      case "running":
        return true;
      case "unknown":
        if (!restartsAfterExit(pod, container, KILLED_EXIT_CODE)) return false;
        this.#replace(at, instance, unknownState(true));
        return true;
      case "exited": {
        // An init container that ran out of memory failed, whatever its exit code says.
        const exitCode =
          instance.exitCode === 0 && instance.reason === "OOMKilled" ? KILLED_EXIT_CODE : instance.exitCode;
        if (exitCode === 0) {
          this.#next(at);
          return true;
        }
        if (!restartsAfterExit(pod, container, exitCode)) return false;
        this.#starts.add(at);
        return true;
      }
    }
  }

  #sidecar(entry: RosterEntry, at: number, instance: ObservedContainer): boolean {
    const { probes } = this.#snapshot;
    switch (instance.state) {
      case "created":
      case "exited":
        this.#starts.add(at);
        return true;
      case "unknown":
        this.#replace(at, instance, unknownState(true));
        return true;
      case "running": {
        if (hasStarted(instance, probes)) this.#next(at);
        const reason = sidecarFault({ entry, instance, probes });
        if (reason !== undefined) this.#replace(at, instance, reason);
        return true;
      }
    }
  }

  /** The container at `at` is done, or started up: the next one may go, or the pod is initialised. */
  #next(at: number): void {
    if (at === this.#entries.length - 1) this.#initialised = true;
    else if (!this.#passed) this.#starts.add(at + 1);
  }

  #replace(at: number, instance: ObservedContainer, reason: KillReason): void {
    this.#kills.push({ instance, reason });
    this.#starts.add(at);
  }
}
