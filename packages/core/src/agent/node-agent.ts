import { isTerminalPhase, type Pod } from "../api/index.ts";
import { endedSoonAfter, settledBefore } from "../async/settle.ts";
import { DecisionLog } from "../decisions/decision-log.ts";
import { EventCorrelator } from "../decisions/event-correlator.ts";
import { type PodChange, PodConfig } from "../pods/index.ts";
import type { PodSource } from "../ports/pod-source.ts";
import { holdsResources } from "../runtime/observed-pod.ts";
import { Observer } from "../runtime/observer.ts";
import { rejectedStatus } from "../status/index.ts";
import { Admission } from "./admission-desk.ts";
import type { Agent, AgentHealth, AgentOptions, PodView } from "./agent.ts";
import { type AgentParts, assembleParts } from "./assembly.ts";
import { Housekeeping } from "./housekeeping.ts";
import { LiveUids } from "./live-uids.ts";
import { nodeFacts } from "./node-facts.ts";
import { podRef } from "./pod-ref.ts";
import { type PodWorker } from "./pod-worker.ts";
import { RuntimeMonitor } from "./runtime-monitor.ts";
import { SyncLoop } from "./sync-loop.ts";
import { timedPorts } from "./timed-ports.ts";

type Finish = Pick<PromiseWithResolvers<void>, "resolve" | "reject">;

/** How long a source that does not heed its signal holds up the end of the agent. */
const SOURCE_END_MS = 5000;

/** The assembly behind `createAgent`. Owns every part of one agent; nothing outlives `run`. */
export class NodeAgent implements Agent {
  readonly config: AgentOptions["config"];
  readonly decisions: DecisionLog;
  readonly ready: Promise<void>;
  readonly done: Promise<void>;
  readonly #options: AgentOptions;
  readonly #monitor: RuntimeMonitor;
  readonly #observer: Observer;
  readonly #podConfig: PodConfig;
  readonly #loop: SyncLoop;
  readonly #admission: Admission;
  readonly #listeners = new Set<(podUid: string) => void>();
  readonly #liveUids: LiveUids;
  #parts: AgentParts | undefined;
  #markReady: () => void = () => undefined;
  readonly #finish: Finish;
  #started = false;
  #wasUsable = false;

  constructor(given: AgentOptions) {
    const { config } = given;
    const ports = timedPorts(given.ports, { timeoutMs: config.runtimeRequestTimeoutMs });
    const options = { ...given, ports };
    this.#options = options;
    this.config = config;
    this.decisions = new DecisionLog({
      ...ports,
      events: new EventCorrelator({ sink: ports.events, clock: ports.clock }),
    });
    this.ready = new Promise((resolve) => {
      this.#markReady = resolve;
    });
    const { promise, ...finish } = Promise.withResolvers<void>();
    this.done = promise;
    this.done.catch(() => undefined);
    this.#finish = finish;
    this.#liveUids = new LiveUids({ ports, decisions: this.decisions });
    this.#admission = new Admission({ config, decisions: this.decisions });
    this.#monitor = new RuntimeMonitor({ ...ports, onTransition: () => this.#runtimeChanged() });
    this.#observer = new Observer({
      ports,
      callTimeoutMs: config.runtimeRequestTimeoutMs,
      events: config.featureGates["EventedPLEG"] !== false,
      isBusy: (uid) => this.#parts?.workers.isBusy(uid) ?? false,
      onChange: (pod) => this.#loop.pushObserved(pod.uid),
    });
    this.#podConfig = new PodConfig({
      sources: options.sources.map((source) => source.name),
      clock: ports.clock,
      decisions: this.decisions,
      onChanges: (changes) => this.#loop.pushChanges(changes),
    });
    this.#loop = new SyncLoop({
      clock: ports.clock,
      logger: ports.logger,
      syncFrequencyMs: config.syncFrequencyMs,
      runtimeErrors: () => this.#runtimeErrors(),
      handleChange: (change) => this.#handleChange(change),
      handleObserved: (uids) => this.#handleObserved(uids),
      onRound: () => {
        if (this.#podConfig.allSourcesSeen) this.#markReady();
      },
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#started) throw new Error("an agent runs once; create another one");
    this.#started = true;
    const stop = new AbortController();
    const onAbort = (): void => stop.abort(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      await this.#runAll(stop.signal);
      this.#finish.resolve();
    } catch (error) {
      // A stop in the middle of the start is a stop.
      if (signal.aborted) return this.#finish.resolve();
      stop.abort(error);
      this.#finish.reject(error);
      throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  pods(): readonly PodView[] {
    const views = new Map<string, PodView>();
    for (const pod of this.#podConfig.pods()) views.set(podRef(pod).uid, this.#view(pod));
    for (const worker of this.#parts?.workers.all() ?? [])
      if (!views.has(worker.uid)) views.set(worker.uid, this.#view(worker.pod));
    return [...views.values()];
  }

  onPodChange(listener: (podUid: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  health(): AgentHealth {
    const { networkError } = this.#monitor.readiness();
    const version = this.#monitor.version;
    return {
      runtimeErrors: this.#runtimeErrors(),
      networkError,
      syncLoop: this.#loop.healthy(),
      runtime: version && { name: version.runtimeName, version: version.runtimeVersion },
    };
  }

  bookkeeping(): Readonly<Record<string, number>> {
    const { workers, statuses, startErrors, crashBackOffs, images, allocations, ownership, podCgroups } =
      this.#parts ?? {};
    const parts = { workers, statuses, startErrors, crashBackOffs, images, allocations, ownership, podCgroups };
    return {
      desired: this.#podConfig.pods().length,
      rejected: this.#admission.size,
      observer: this.#observer.size,
      ...Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, part?.size ?? 0])),
    };
  }

  async #runAll(stop: AbortSignal): Promise<void> {
    const { ports, config, sources } = this.#options;
    const machine = await ports.machine.info({ signal: stop });
    const parts = assembleParts({
      options: this.#options,
      machine,
      stop,
      decisions: this.decisions,
      observer: this.#observer,
      monitor: this.#monitor,
      onPodChange: (uid) => this.#podChanged(uid),
      onFinished: (worker) => this.#workerFinished(worker),
      onGone: (worker) => this.#workerGone(worker),
      onPulled: (uid) => this.#parts?.workers.wake(uid),
    });
    await parts.ownership.load(stop);
    await this.#liveUids.load(stop);
    await parts.backOffState.load(stop);
    this.#parts = parts;
    ports.logger.info("Agent started", {
      node: config.nodeName,
      rootDir: config.rootDir,
      sources: sources.map((source) => source.name),
    });
    const housekeeping = this.#housekeeping(parts);
    await Promise.all([
      this.#monitor.run(stop),
      this.#observer.run(stop),
      this.#loop.run(stop),
      parts.statuses.run(stop),
      parts.backOffState.run(stop),
      housekeeping.run(stop),
      ...sources.map((source) => this.#runSource(source, stop)),
    ]);
    await parts.workers.settled();
    ports.logger.info("Agent stopped; its pods run on", { pods: this.#observer.all().length });
  }

  async #runSource(source: PodSource, stop: AbortSignal): Promise<void> {
    try {
      // What already runs decides which UID a taken-over pod keeps, so the first look comes first.
      if (!(await settledBefore(stop, this.#observer.ready))) return;
      const onPods = (pods: readonly Pod[]): void => this.#takePods(source, pods);
      const promise = source.run({ decisions: this.decisions, onPods, signal: stop });
      await endedSoonAfter(stop, { promise, clock: this.#options.ports.clock, afterMs: SOURCE_END_MS });
    } catch (error) {
      if (!stop.aborted)
        this.#options.ports.logger.error("A source of pods ended; the pods that it named run on", {
          source: source.name,
          err: error,
        });
    }
  }

  /** What a source gives that cannot even be looked at is refused as a whole: the source goes on, and so does what it wanted before. */
  #takePods(source: PodSource, pods: readonly Pod[]): void {
    try {
      this.#podConfig.set({ source: source.name, pods: this.#withLiveUids(source, pods) });
    } catch (error) {
      const fields = { source: source.name, err: error };
      this.#options.ports.logger.error("A set of pods could not be taken; the last one stands", fields);
    }
  }

  #withLiveUids(source: PodSource, pods: readonly Pod[]): readonly Pod[] {
    if (source.name === "api") return pods;
    return this.#liveUids.apply({ pods, observed: this.#observer.all(), takeOver: this.config.takeOver });
  }

  #runtimeErrors(): readonly string[] {
    const errors = [...this.#monitor.readiness().runtimeErrors];
    const pleg = this.#observer.unhealthy();
    if (pleg !== undefined) errors.push(`PLEG is not healthy: ${pleg}`);
    if (!this.#observer.isReady) errors.push("the runtime was not looked at yet");
    return errors;
  }

  /** Work that failed while the runtime was away, however shortly, is tried as soon as it is back. */
  #runtimeChanged(): void {
    const usable = this.#monitor.answers && this.#monitor.readiness().runtimeErrors.length === 0;
    if (usable && !this.#wasUsable) this.#parts?.workers.wakeAll();
    this.#wasUsable = usable;
    this.#loop.wake();
  }

  #handleChange(change: PodChange): void {
    const byAge = [...change.pods].sort((left, right) =>
      compare(left.metadata?.creationTimestamp, right.metadata?.creationTimestamp),
    );
    for (const pod of byAge) {
      this.#guarded(pod, () => this.#handlePod(change.kind, pod));
      this.#podChanged(podRef(pod).uid);
    }
  }

  /** One pod that cannot be handled, whatever is wrong with it, holds up no other. */
  #guarded(pod: Pod, work: () => void): void {
    try {
      work();
    } catch (error) {
      const { name, uid } = podRef(pod);
      const fields = { pod: name, podUID: uid, err: error };
      this.#options.ports.logger.error("Handling a pod failed; other pods go on", fields);
    }
  }

  #handlePod(kind: PodChange["kind"], pod: Pod): void {
    const parts = this.#requireParts();
    const { uid } = podRef(pod);
    switch (kind) {
      case "add":
        this.#add(pod, parts);
        return;
      case "update":
      case "delete":
        if (!this.#admission.isRejected(uid) || Admission.isPast(pod))
          parts.workers.update(parts.allocations.take(pod));
        // A pod that had finished before its deletion was asked for needs no more work, only the word that it is gone.
        parts.statuses.reconcile(pod);
        return;
      case "reconcile":
        parts.statuses.reconcile(pod);
        return;
      case "remove":
        this.#admission.forget(uid);
        parts.allocations.forget(uid);
        if (parts.workers.get(uid) === undefined) parts.statuses.forget(uid);
        parts.workers.remove(uid);
        return;
    }
  }

  #add(desired: Pod, parts: AgentParts): void {
    const ref = podRef(desired);
    // What an earlier life of the agent allocated is what is judged.
    const pod = parts.allocations.take(desired);
    if (!Admission.isPast(pod)) {
      // What could not be looked at yet ran before this agent started; what a worker is taking down is another pod that had the same UID.
      const isHeld = holdsResources(this.#observer.get(ref)) || !this.#observer.isLooked(ref.uid);
      const verdict = this.#admission.judge({
        pod,
        adopted: isHeld && parts.workers.get(ref.uid)?.removed !== true,
        otherPods: this.#holdingPods(ref.uid),
        node: nodeFacts({ config: this.config, machine: parts.machine, runtime: this.#monitor.status }),
      });
      if (!verdict.admit) {
        parts.allocations.forget(ref.uid);
        const nowMs = this.#options.ports.clock.nowMs();
        parts.statuses.set(pod, rejectedStatus({ pod, reason: verdict.reason, message: verdict.message, nowMs }));
        return;
      }
    }
    parts.workers.update(pod);
  }

  /**
   * Pods that hold resources of the node: admitted, and not over. One that left its source does not count although it may still be stopping, as
   * upstream has it: a changed manifest is a new pod, which would never fit beside the one that it replaces.
   */
  #holdingPods(exceptUid: string): readonly Pod[] {
    const parts = this.#requireParts();
    return parts.workers.all().flatMap((worker) => {
      const { uid, removed, restartWith, phase } = worker;
      if (uid === exceptUid) return [];
      if (removed) return restartWith === undefined ? [] : [restartWith];
      const isOver = phase === "finished" || phase === "terminated" || isTerminalPhase(parts.statuses.get(uid)?.phase);
      return isOver ? [] : [worker.pod];
    });
  }

  #handleObserved(podUids: readonly string[]): void {
    for (const uid of podUids) this.#parts?.workers.wake(uid);
  }

  #workerFinished(worker: PodWorker): void {
    const { state } = worker;
    if ("termination" in state && state.termination.reason !== "orphan") this.#parts?.statuses.finished(worker.pod);
    this.#podChanged(worker.uid);
  }

  #workerGone(worker: PodWorker): void {
    this.#parts?.images.forget(worker.uid);
    // Not before: as long as the worker is shown, so is the pod's last status. One that came back and was turned away keeps that word.
    if (!this.#admission.isRejected(worker.uid)) this.#parts?.statuses.forget(worker.uid);
    this.#podChanged(worker.uid);
  }

  #podChanged(uid: string): void {
    for (const listener of this.#listeners) {
      try {
        listener(uid);
      } catch (error) {
        this.#options.ports.logger.error("A listener to pods failed; the agent goes on", { podUID: uid, err: error });
      }
    }
  }

  #view(pod: Pod): PodView {
    const { uid } = podRef(pod);
    const phase = this.#admission.isRejected(uid) ? "rejected" : (this.#parts?.workers.phase(uid) ?? "pending");
    return { pod, status: this.#parts?.statuses.get(uid) ?? pod.status, phase };
  }

  #housekeeping(parts: AgentParts): Housekeeping {
    return new Housekeeping({
      ...parts,
      ports: this.#options.ports,
      observer: this.#observer,
      desired: () => this.#podConfig.pods(),
      mayAct: () => this.#podConfig.allSourcesSeen && this.#runtimeErrors().length === 0 && this.#loop.idle,
      restart: (pod) => {
        if (!this.#admission.isRejected(podRef(pod).uid)) this.#guarded(pod, () => this.#add(pod, parts));
      },
      collectGarbage: (signal) =>
        parts.content.collectGarbage({
          pods: this.#observer.all().filter((pod) => parts.ownership.owns(pod.uid)),
          live: (uid) => parts.workers.get(uid) !== undefined,
          removable: (uid) => this.#isRemovable(uid, parts),
          signal,
        }),
    });
  }

  /** Content may go when the pod was evicted, or deleted and stopped, or nobody wants it. */
  #isRemovable(uid: string, parts: AgentParts): boolean {
    const state = parts.workers.get(uid)?.state;
    if (state === undefined) return true;
    return state.phase === "finished" && (state.termination.evicted || state.termination.deleted);
  }

  #requireParts(): AgentParts {
    if (this.#parts === undefined) throw new Error("the agent has not started");
    return this.#parts;
  }
}

function compare(left: string | null | undefined, right: string | null | undefined): number {
  const [a, b] = [left ?? "", right ?? ""];
  return a < b ? -1 : a > b ? 1 : 0;
}
