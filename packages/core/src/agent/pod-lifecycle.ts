import { findContainer, isHostNetworkPod, isTerminalPhase, type Pod, type PodStatus } from "../api/index.ts";
import { delay } from "../async/delay.ts";
import { leftAfter } from "../async/settle.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import type { DecisionSink, PodRef } from "../decisions/decision.ts";
import { NodeletError } from "../errors/nodelet-error.ts";
import type { Clock } from "../ports/clock.ts";
import type { ContainerLogs, PodFiles } from "../ports/pod-files.ts";
import type { Random } from "../ports/random.ts";
import type { RuntimeService } from "../ports/runtime-service.ts";
import type { ExecutionResult, PlanExecutor } from "../runtime/execute/plan-executor.ts";
import type { PodContent } from "../runtime/execute/pod-content.ts";
import { holdsResources, type ObservedPod } from "../runtime/observed-pod.ts";
import type { Observer } from "../runtime/observer.ts";
import { planKill, planPod } from "../runtime/plan/index.ts";
import { effectiveRestartPolicy } from "../runtime/plan/restart-decision.ts";
import type { PodPlan } from "../runtime/pod-plan.ts";
import { NO_PROBES, type PodSnapshot } from "../runtime/pod-snapshot.ts";
import { computePodStatus, type KillStatus, type StatusManager } from "../status/index.ts";
import { activeDeadline } from "./active-deadline.ts";
import type { Allocations } from "./allocations.ts";
import type { CrashBackOffs } from "./crash-back-offs.ts";
import type { Ownership } from "./ownership.ts";
import type { PodCgroups } from "./pod-cgroups.ts";
import { preparePod } from "./pod-preparation.ts";
import { podRef } from "./pod-ref.ts";
import type { PodLifecycle, SyncOutcome, SyncRequest } from "./pod-worker.ts";
import type { Removals } from "./removals.ts";
import type { RuntimeMonitor } from "./runtime-monitor.ts";
import type { StartErrors } from "./start-errors.ts";
import type { Termination } from "./worker-state.ts";

/** Jitter of the periodic resync, and upstream's pauses. */
const RESYNC_JITTER = 0.5;
const NETWORK_RETRY_MS = 1000;
const ERROR_RETRY_MS = 10_000;
/** The longest back-off that there is. */
const LONGEST_RETRY_MS = 300_000;
/** From when on, and how often, a sync that is still under way tells what it has so far. */
const FIRST_PROGRESS_MS = 1000;
const NEXT_PROGRESS_MS = 5000;

/** The parts of the agent that a pod passes through. */
export interface LifecycleParts {
  readonly config: AgentConfig;
  readonly ports: {
    readonly runtime: RuntimeService;
    readonly podFiles: PodFiles;
    readonly containerLogs: ContainerLogs;
    readonly clock: Clock;
    readonly random: Random;
  };
  readonly decisions: DecisionSink;
  readonly observer: Observer;
  readonly monitor: RuntimeMonitor;
  readonly statuses: StatusManager;
  readonly executor: PlanExecutor;
  readonly content: PodContent;
  readonly podCgroups: PodCgroups;
  readonly ownership: Ownership;
  readonly startErrors: StartErrors;
  readonly allocations: Allocations;
  readonly crashBackOffs: CrashBackOffs;
  readonly removals: Removals;
  readonly nodeIps: () => readonly string[];
}

/** Carries a pod through the phases of its worker: look, decide (pure), act, look again, tell. */
export class AgentPodLifecycle implements PodLifecycle {
  readonly #parts: LifecycleParts;
  /** Pods that something was done to and that no look has shown since: what the cache has of them must not be planned from. */
  readonly #unseen = new Set<string>();

  constructor(parts: LifecycleParts) {
    this.#parts = parts;
  }

  async sync({ pod, signal, news }: SyncRequest): Promise<SyncOutcome> {
    const { monitor, decisions, content, executor, ports } = this.#parts;
    const ref = podRef(pod);
    const observed = await this.#observed(ref, signal);
    const before = this.#publish(pod, observed, { kill: this.#deadlineKill(pod), isTerminal: false });
    if (isTerminalPhase(before.phase)) return { terminal: true, nextSyncMs: 0 };
    const { networkError } = monitor.readiness();
    if (networkError !== undefined && !isHostNetworkPod(pod)) {
      const message = `network is not ready: ${networkError}`;
      decisions.record({
        action: "retry",
        pod: ref,
        reason: "NetworkNotReady",
        message,
        outcome: "waiting",
        event: { type: "Warning", reason: "NetworkNotReady", message },
      });
      return { terminal: false, nextSyncMs: this.#jitter(NETWORK_RETRY_MS) };
    }
    const plan = planPod(await this.#snapshot(pod, observed, signal));
    if (plan.steps.length > 0) {
      await preparePod({ pod, parts: this.#parts, signal });
      this.#unseen.add(ref.uid);
    }
    const execute = (leave: AbortSignal) => executor.execute({ pod, plan, observed, signal, leave });
    const leaving = { clock: ports.clock, earlier: news, afterMs: this.#patienceMs(pod, before, plan) };
    const result = mustBeWhole(pod, plan)
      ? await execute(NEVER_LEFT)
      : await this.#whileTelling(pod, signal, () => leftAfter(leaving, execute));
    let after = result.acted ? await this.#look(ref, signal) : observed;
    // What was removed must not be there for the next sync, which would remove it again.
    if (await content.pruneDeadContainers({ observed: after, signal })) after = await this.#look(ref, signal);
    const status = this.#publish(pod, after, { kill: undefined, isTerminal: false });
    if (isTerminalPhase(status.phase)) return { terminal: true, nextSyncMs: 0 };
    const retryMs = result.left ? 0 : this.#retryMs(result);
    return { terminal: false, nextSyncMs: Math.min(retryMs, this.#untilDeadlineMs(pod, status)) };
  }

  async terminate({
    pod,
    termination,
    signal,
  }: {
    readonly pod: Pod;
    readonly termination: Termination;
    readonly signal: AbortSignal;
  }): Promise<void> {
    const { observer, executor, decisions } = this.#parts;
    const ref = podRef(pod);
    const observed = await observer.look(ref, { signal });
    // Nobody asked for the status of a pod that no source knows.
    const known = termination.reason !== "orphan";
    if (known) this.#publish(pod, observed, { kill: termination.status, isTerminal: false });
    const snapshot: PodSnapshot = { ...this.#bareSnapshot(pod, observed), nowMs: this.#parts.ports.clock.nowMs() };
    const plan = planKill(snapshot, {
      graceOverrideSeconds: termination.graceSeconds,
      reason: { code: termination.reason === "terminal" ? "podDone" : "deleted" },
    });
    if (plan.steps.length > 0 && !wasOver(pod, { termination, observed, plan })) {
      decisions.record({
        action: "terminate",
        pod: ref,
        reason: termination.reason,
        message: `Stopping pod ${ref.namespace}/${ref.name}`,
        inputs: { graceSeconds: termination.graceSeconds },
        outcome: "ok",
      });
      await executor.execute({ pod, plan, observed, signal });
    }
    const after = plan.steps.length > 0 ? await observer.look(ref, { signal }) : observed;
    assertStopped(after);
    if (known) this.#publish(pod, after, { kill: termination.status, isTerminal: true });
  }

  async stopLate({ pod, signal }: { readonly pod: Pod; readonly signal: AbortSignal }): Promise<void> {
    const { observer, executor, decisions } = this.#parts;
    const ref = podRef(pod);
    const observed = observer.get(ref);
    if (!holdsResources(observed)) return;
    decisions.record({
      action: "kill",
      pod: ref,
      reason: "LateEffect",
      message: `Something of pod ${ref.namespace}/${ref.name} came up after the pod had stopped; it is stopped too`,
      outcome: "ok",
    });
    const plan = planKill(this.#bareSnapshot(pod, observed), { graceOverrideSeconds: 1, reason: { code: "podDone" } });
    await executor.execute({ pod, plan, observed, signal });
    assertStopped(await observer.look(ref, { signal }));
  }

  async cleanUp({
    pod,
    termination,
    signal,
  }: {
    readonly pod: Pod;
    readonly termination: Termination;
    readonly signal: AbortSignal;
  }): Promise<void> {
    const { observer, podCgroups, statuses, decisions } = this.#parts;
    const ref = podRef(pod);
    const known = termination.reason !== "orphan";
    if (known) this.#publish(pod, observer.get(ref), { kill: termination.status, isTerminal: true });
    await podCgroups.destroy({ pod, signal });
    if (known) statuses.terminate(pod);
    decisions.record({
      action: "finish",
      pod: ref,
      reason: termination.reason,
      message: `Pod ${ref.namespace}/${ref.name} has stopped`,
      outcome: "ok",
    });
  }

  async removeContent({ pod, signal }: { readonly pod: Pod; readonly signal: AbortSignal }): Promise<void> {
    const { content, ownership, observer, startErrors, crashBackOffs, podCgroups } = this.#parts;
    const ref = podRef(pod);
    // What the last look saw is enough to begin with: the look at the end finds what it missed.
    const observed = observer.isLooked(ref.uid) ? observer.get(ref) : await observer.look(ref, { signal });
    await content.remove({ ref, observed, signal });
    await podCgroups.destroyUid({ podUid: ref.uid, signal });
    const left = await observer.look(ref, { signal });
    // A call that was given up took effect meanwhile: without its owner nobody would ever remove what it made.
    if (left.sandboxes.length + left.containers.length > 0)
      throw new NodeletError("internal", `something of pod ${ref.namespace}/${ref.name} came up while it was removed`);
    this.#unseen.delete(ref.uid);
    ownership.release(ref.uid);
    startErrors.forget(ref.uid);
    crashBackOffs.forget(ref.uid);
  }

  /**
   * Does the work and, when it takes long (a slow pull, a sandbox that hangs), tells on the way what is there already: addresses, containers that
   * run, starts that failed.
   */
  async #whileTelling<T>(pod: Pod, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const over = new AbortController();
    const telling = this.#tellProgress(pod, AbortSignal.any([signal, over.signal]));
    try {
      return await work();
    } finally {
      over.abort();
      await telling;
    }
  }

  /** How long a sync waits for images: other containers of the pod may be due, or to be tried again, and the pod's own time may be up. */
  #patienceMs(pod: Pod, status: PodStatus, plan: PodPlan): number {
    if (!plan.steps.some((step) => step.kind === "ensureImage")) return Number.POSITIVE_INFINITY;
    const nowMs = this.#parts.ports.clock.nowMs();
    const due = plan.waiting.map(({ untilMs }) => untilMs - nowMs);
    return Math.min(this.#jitter(ERROR_RETRY_MS), this.#untilDeadlineMs(pod, status), ...due);
  }

  /** Never rejects. The relist keeps the cache fresh enough after the first look. */
  async #tellProgress(pod: Pod, signal: AbortSignal): Promise<void> {
    const { observer, ports } = this.#parts;
    const ref = podRef(pod);
    if (!(await delay(ports.clock, FIRST_PROGRESS_MS, signal))) return;
    await observer.look(ref, { signal }).catch(() => undefined);
    while (!signal.aborted) {
      this.#publish(pod, observer.get(ref), { kill: undefined, isTerminal: false });
      if (!(await delay(ports.clock, NEXT_PROGRESS_MS, signal))) return;
    }
  }

  /** What the runtime has of the pod, not older than what was last done to it. */
  async #observed(ref: PodRef, signal: AbortSignal): Promise<ObservedPod> {
    const { observer } = this.#parts;
    const isKnown = observer.isLooked(ref.uid) && !this.#unseen.has(ref.uid);
    return isKnown ? observer.get(ref) : await this.#look(ref, signal);
  }

  async #look(ref: PodRef, signal: AbortSignal): Promise<ObservedPod> {
    const observed = await this.#parts.observer.look(ref, { signal });
    this.#unseen.delete(ref.uid);
    return observed;
  }

  #bareSnapshot(pod: Pod, observed: ObservedPod): PodSnapshot {
    return {
      pod,
      observed,
      probes: NO_PROBES,
      crashBackOff: NONE,
      highestLogAttempt: NO_ATTEMPTS,
      nowMs: this.#parts.ports.clock.nowMs(),
    };
  }

  async #snapshot(pod: Pod, observed: ObservedPod, signal: AbortSignal): Promise<PodSnapshot> {
    const { crashBackOffs, content } = this.#parts;
    const bare = this.#bareSnapshot(pod, observed);
    return {
      ...bare,
      crashBackOff: crashBackOffs.inBackOff({ pod, observed }),
      highestLogAttempt: await content.highestLogAttempts({ pod, observed, signal }),
      ...shownBefore(this.#parts.statuses.get(observed.uid) ?? pod.status),
    };
  }

  #publish(
    pod: Pod,
    observed: ObservedPod,
    terms: { readonly kill: KillStatus | undefined; readonly isTerminal: boolean },
  ): PodStatus {
    const { statuses, startErrors, allocations, monitor, nodeIps, ports } = this.#parts;
    const status = computePodStatus({
      pod,
      observed,
      previous: statuses.get(observed.uid) ?? pod.status,
      probes: NO_PROBES,
      startErrors: startErrors.of(observed.uid),
      kill: terms.kill,
      resize: allocations.resizeOf(observed.uid),
      isTerminal: terms.isTerminal,
      nodeIps: nodeIps(),
      runtimeName: monitor.runtimeName,
      nowMs: ports.clock.nowMs(),
    });
    return statuses.set(pod, status);
  }

  #deadlineKill(pod: Pod): KillStatus | undefined {
    const { statuses, decisions, ports } = this.#parts;
    const ref = podRef(pod);
    const deadline = activeDeadline(pod, statuses.get(ref.uid) ?? pod.status, ports.clock.nowMs());
    if (deadline === undefined || deadline.remainingMs > 0) return undefined;
    const message = "Pod was active on the node longer than the specified deadline";
    decisions.record({
      action: "terminate",
      pod: ref,
      reason: "DeadlineExceeded",
      message,
      outcome: "ok",
      event: { type: "Normal", reason: "DeadlineExceeded", message },
    });
    return { phase: "Failed", reason: "DeadlineExceeded", message };
  }

  #untilDeadlineMs(pod: Pod, status: PodStatus): number {
    return activeDeadline(pod, status, this.#parts.ports.clock.nowMs())?.remainingMs ?? Number.POSITIVE_INFINITY;
  }

  /** What failed is tried again after 10 s, in a back-off window too: then the status tells the back-off and no longer the failure. */
  #retryMs({ failed, retryInMs }: Pick<ExecutionResult, "failed" | "retryInMs">): number {
    if (failed) return Math.min(retryInMs ?? Number.POSITIVE_INFINITY, this.#jitter(ERROR_RETRY_MS));
    // A wall clock that was set back while the sync ran makes the time look far.
    return retryInMs === undefined
      ? this.#jitter(this.#parts.config.syncFrequencyMs)
      : Math.min(retryInMs, LONGEST_RETRY_MS);
  }

  #jitter(ms: number): number {
    return ms * (1 + this.#parts.ports.random.float() * RESYNC_JITTER);
  }
}

/** An earlier life of the agent ended the pod and told so, and nothing of it lives: its idle sandboxes are left to their removal. */
function wasOver(
  pod: Pod,
  seen: { readonly termination: Termination; readonly observed: ObservedPod; readonly plan: PodPlan },
): boolean {
  const { termination, observed, plan } = seen;
  if (termination.reason !== "terminal" || !isTerminalPhase(pod.status?.phase) || holdsResources(observed))
    return false;
  return plan.steps.every((step) => step.kind !== "killContainer");
}

/** What the last status showed of containers that the runtime may have lost since. */
function shownBefore(status: PodStatus | undefined): Pick<PodSnapshot, "shownRestartCount" | "shownExitCode"> {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {};
  const shown = [...containerStatuses, ...initContainerStatuses];
  const exits = [...shown, ...ephemeralContainerStatuses].flatMap(({ name, state }) =>
    state?.terminated === undefined ? [] : [[name, state.terminated.exitCode] as const],
  );
  return {
    shownRestartCount: new Map(shown.map(({ name, restartCount }) => [name, restartCount])),
    shownExitCode: new Map(exits),
  };
}

const NEVER_LEFT = new AbortController().signal;
const NONE: PodSnapshot["crashBackOff"] = new Map();
const NO_ATTEMPTS: PodSnapshot["highestLogAttempt"] = new Map();

/**
 * A container that is stopped only to be started again, against its policy (its definition changed), is neither told as ended meanwhile nor left so:
 * no other plan would start it.
 */
function mustBeWhole(pod: Pod, plan: PodPlan): boolean {
  return plan.steps.some((step) => {
    if (step.kind !== "killContainer") return false;
    const container = findContainer(pod, step.containerName)?.container;
    return container === undefined || effectiveRestartPolicy(pod, container) !== "Always";
  });
}

/** The runtime confirms that nothing of the pod runs. */
function assertStopped(observed: ObservedPod): void {
  if (!holdsResources(observed)) return;
  const { namespace, name } = observed;
  const message = `pod ${namespace}/${name} still holds containers or a sandbox after it was told to stop`;
  throw new NodeletError("internal", message);
}
