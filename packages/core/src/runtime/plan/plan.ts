import { type Container, isTerminalPhase } from "../../api/index.ts";
import { instancesOf, newestInstance, type ObservedContainer, type ObservedSandbox } from "../observed-pod.ts";
import type { KillContainerStep, KillReason, PodPlan, RemoveContainerStep } from "../pod-plan.ts";
import type { PodSnapshot } from "../pod-snapshot.ts";
import { type ContainerRoster, type RosterEntry, rosterOf } from "./container-roster.ts";
import { initProgress } from "./init-progress.ts";
import { killStep, mayRun, planKill } from "./kill-plan.ts";
import { planWithNewSandbox, removeStep } from "./new-sandbox-plan.ts";
import { shouldBeRestarted } from "./restart-decision.ts";
import { regularFault, unknownState } from "./running-check.ts";
import { sandboxDecision } from "./sandbox-decision.ts";
import { StartChain } from "./start-steps.ts";

/**
 * What has to be done to bring one pod from what was observed to what its spec asks for. Pure: equal snapshots give equal plans, and a pod that is
 * as it shall be gives an empty one. A pod that is being deleted, or whose phase is terminal, is only ever taken down.
 *
 * Of KEP-5307 the rules that restart one container are followed; the action RestartAllContainers restarts the container that exited and leaves the
 * others alone.
 */
export function planPod(snapshot: PodSnapshot): PodPlan {
  const { pod, observed } = snapshot;
  if (pod.metadata?.deletionTimestamp !== undefined) return planKill(snapshot, { reason: { code: "deleted" } });
  if (isTerminalPhase(pod.status?.phase)) return planKill(snapshot, { reason: { code: "podDone" } });
  const roster = rosterOf(pod);
  const decision = sandboxDecision(pod, observed);
  if (decision.kind === "create") return planWithNewSandbox(snapshot, roster, decision);
  return new SandboxPlan(snapshot, roster, decision.sandbox).plan();
}

/** The plan for a pod whose sandbox serves. */
class SandboxPlan {
  readonly #snapshot: PodSnapshot;
  readonly #roster: ContainerRoster;
  readonly #sandbox: ObservedSandbox;
  readonly #chain: StartChain;
  readonly #kills = new Map<string, KillContainerStep>();
  readonly #removals: RemoveContainerStep[] = [];

  constructor(snapshot: PodSnapshot, roster: ContainerRoster, sandbox: ObservedSandbox) {
    this.#snapshot = snapshot;
    this.#roster = roster;
    this.#sandbox = sandbox;
    this.#chain = new StartChain({ snapshot, sandboxId: sandbox.id });
  }

  plan(): PodPlan {
    const { observed, shownExitCode } = this.#snapshot;
    this.#killStrays();
    for (const entry of this.#roster.ephemeral) {
      const wasMade = newestInstance(observed, entry.name) !== undefined || shownExitCode?.has(entry.name) === true;
      if (!wasMade) this.#chain.add(entry);
    }
    const instanceOf = (name: string): ObservedContainer | undefined => this.#current(name);
    const init = initProgress({ snapshot: this.#snapshot, roster: this.#roster, instanceOf });
    if (init.state === "failed") return planKill(this.#snapshot, { reason: { code: "podDone" } });
    if (init.state === "inProgress") {
      this.#applyInit(init);
      return this.#result();
    }
    const regular = this.#roster.regular.map((entry) => this.#judgeRegular(entry));
    // Sidecars alone do not keep a pod alive.
    if (regular.every((verdict) => verdict.kind === "done" || verdict.kind === "killOnly")) {
      return planKill(this.#snapshot, { reason: { code: "podDone" } });
    }
    this.#applyInit(init);
    for (const [at, verdict] of regular.entries()) this.#applyRegular(this.#roster.regular[at] as RosterEntry, verdict);
    return this.#result();
  }

  #applyInit(init: ReturnType<typeof initProgress>): void {
    for (const { instance, reason } of init.kills) this.#kill(instance, reason);
    for (const entry of init.starts) this.#start(entry);
  }

  #judgeRegular(entry: RosterEntry): RegularVerdict {
    const { pod, probes, observed } = this.#snapshot;
    const current = this.#current(entry.name);
    if (current?.state === "running") {
      const fault = regularFault({ pod, entry, instance: current, probes });
      if (fault === undefined) return { kind: "keep" };
      return { kind: fault.restart ? "restart" : "killOnly", instance: current, reason: fault.reason };
    }
    // An instance of an older sandbox still tells how the container ended; one that lives there is a stray, which is killed before.
    const newest = current ?? newestInstance(observed, entry.name);
    const instance = newest !== undefined && current === undefined && mayRun(newest) ? undefined : newest;
    const shownExitCode = newest === undefined ? this.#snapshot.shownExitCode?.get(entry.name) : undefined;
    const container = entry.container as Container;
    if (!shouldBeRestarted({ pod, container, instance, shownExitCode })) return { kind: "done" };
    if (instance?.state === "unknown") return { kind: "restart", instance, reason: unknownState(false) };
    return { kind: "start" };
  }

  #applyRegular(entry: RosterEntry, verdict: RegularVerdict): void {
    if (verdict.kind === "restart" || verdict.kind === "killOnly") this.#kill(verdict.instance, verdict.reason);
    if (verdict.kind === "restart" || verdict.kind === "start") this.#start(entry);
  }

  /** Whatever may live beside the current instance of its name goes first: at most one instance of a name runs. */
  #killStrays(): void {
    for (const instance of this.#snapshot.observed.containers) {
      if (!mayRun(instance) || this.#roster.find(instance.name) === undefined) continue;
      if (instance.sandboxId !== this.#sandbox.id) {
        this.#kill(instance, { code: "sandboxLost", message: `Stopping container ${instance.name}` });
      } else if (this.#current(instance.name) !== instance) {
        this.#kill(instance, { code: "duplicate", message: `Stopping container ${instance.name}` });
      }
    }
  }

  /** Newest instance of a name in the serving sandbox. */
  #current(name: string): ObservedContainer | undefined {
    return instancesOf(this.#snapshot.observed, name).find((instance) => instance.sandboxId === this.#sandbox.id);
  }

  #kill(instance: ObservedContainer, reason: KillReason): void {
    if (this.#kills.has(instance.id)) return;
    this.#kills.set(instance.id, killStep({ pod: this.#snapshot.pod, roster: this.#roster, instance, reason }));
  }

  #start(entry: RosterEntry): void {
    const kills = [...this.#kills.values()].filter((step) => step.containerName === entry.name);
    const removals = this.#removeNeverStarted(entry);
    this.#chain.add(
      entry,
      [...kills, ...removals].map((step) => step.id),
    );
  }

  /**
   * An instance that was created and never started may still be started by a call that its client gave up: it goes before the next one comes,
   * or two of one name would run.
   */
  #removeNeverStarted(entry: RosterEntry): readonly RemoveContainerStep[] {
    const removals = instancesOf(this.#snapshot.observed, entry.name)
      .filter((instance) => instance.state === "created")
      .map((instance) => removeStep(instance));
    this.#removals.push(...removals);
    return removals;
  }

  /** Of each init container only the newest dead instance is kept, since crash-looping ones pile up fast. */
  #pruneInit(): readonly RemoveContainerStep[] {
    return this.#roster.init.flatMap((entry) =>
      instancesOf(this.#snapshot.observed, entry.name)
        .filter((instance) => instance.state === "exited")
        .slice(1)
        .map((instance) => removeStep(instance)),
    );
  }

  #result(): PodPlan {
    const steps = [...this.#kills.values(), ...this.#removals, ...this.#pruneInit(), ...this.#chain.steps];
    return { steps, waiting: this.#chain.waiting, killPod: false };
  }
}

type RegularVerdict =
  | { readonly kind: "keep" | "start" | "done" }
  | { readonly kind: "restart" | "killOnly"; readonly instance: ObservedContainer; readonly reason: KillReason };
