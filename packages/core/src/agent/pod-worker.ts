import type { Pod } from "../api/index.ts";
import { Wake } from "../async/wake.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { Random } from "../ports/random.ts";
import type { KillStatus } from "../status/status-snapshot.ts";
import {
  effectiveGrace,
  moveTo,
  type Termination,
  type TerminationReason,
  type WorkerPhase,
  type WorkerState,
} from "./worker-state.ts";

/** What a sync leaves behind. */
export interface SyncOutcome {
  /** The pod reached a terminal phase: the worker goes on to terminate it. */
  readonly terminal: boolean;
  /** When to sync again if nothing happens before, in milliseconds. */
  readonly nextSyncMs: number;
}

/** What a sync is given. */
export interface SyncRequest {
  readonly pod: Pod;
  /** Fires when the pod is to end, or the agent stops. One for all syncs of a pod: what a sync began may outlast it. */
  readonly signal: AbortSignal;
  /** Fires when something of the pod changed meanwhile: a sync that only waits should end soon, since another one follows. */
  readonly news: AbortSignal;
}

/** The work of each phase. Every method may reject: the worker tells and tries again. All but cleanUp and remove heed the signal. */
export interface PodLifecycle {
  sync(request: SyncRequest): Promise<SyncOutcome>;
  /** Stops everything. Resolves only when the runtime confirms that nothing runs. */
  terminate(request: {
    readonly pod: Pod;
    readonly termination: Termination;
    readonly signal: AbortSignal;
  }): Promise<void>;
  /** Frees what the stopped pod held and writes its last status. */
  cleanUp(request: {
    readonly pod: Pod;
    readonly termination: Termination;
    readonly signal: AbortSignal;
  }): Promise<void>;
  /** Looks whether something of the finished pod came up after all (a call that was given up may still take effect), and stops it. */
  stopLate(request: { readonly pod: Pod; readonly signal: AbortSignal }): Promise<void>;
  /** Removes containers, sandboxes, logs, directories: the pod vanished from its source. */
  removeContent(request: { readonly pod: Pod; readonly signal: AbortSignal }): Promise<void>;
}

/** Asks a worker to end its pod: why, with which grace (seconds, only ever shrinking), and what the status then says. */
export interface KillRequest {
  readonly reason: TerminationReason;
  readonly graceSeconds?: number;
  readonly status?: KillStatus;
  readonly evict?: boolean;
}

/** What one pod worker is made from. */
export interface PodWorkerOptions {
  readonly pod: Pod;
  readonly lifecycle: PodLifecycle;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Fires when the agent stops: the worker ends where it is and the pod runs on. */
  readonly stop: AbortSignal;
  /** Starts in `waiting` instead of `syncing`; the owner calls `proceed`. */
  readonly waiting: boolean;
  readonly onPhase: (worker: PodWorker) => void;
}

/** Upstream's pause after a failed sync, and its jitter. */
const ERROR_RETRY_MS = 10_000;
const ERROR_JITTER = 0.5;
/** How soon the same failure is told aloud again. */
const TELL_AGAIN_MS = 60_000;

/**
 * Drives one pod UID through its life, one step at a time. Holds a single pending update: newer replaces older. The running sync is cancelled
 * when the pod becomes terminating, the running termination when its grace shrinks.
 */
export class PodWorker {
  readonly uid: string;
  #pod: Pod;
  #state: WorkerState;
  /** In no source any more: content is removed once finished. */
  #removed = false;
  #restartWith: Pod | undefined;
  #busy = false;
  #told: { readonly words: string; readonly atMs: number } | undefined;
  #attempt: AbortController | undefined;
  /** Fires for the sync that is under way when another one is asked for. */
  #news = new AbortController();
  readonly #options: PodWorkerOptions;
  readonly #wake: Wake;

  constructor(options: PodWorkerOptions) {
    this.#options = options;
    this.#pod = options.pod;
    this.uid = options.pod.metadata?.uid ?? "";
    this.#state = { phase: options.waiting ? "waiting" : "syncing" };
    this.#wake = new Wake(options.clock);
  }

  get pod(): Pod {
    return this.#pod;
  }

  get state(): WorkerState {
    return this.#state;
  }

  get phase(): WorkerPhase {
    return this.#state.phase;
  }

  /** True while a phase's work is under way. */
  get busy(): boolean {
    return this.#busy;
  }

  get removed(): boolean {
    return this.#removed;
  }

  /** The pod to start anew under the same UID once this worker is gone. */
  get restartWith(): Pod | undefined {
    return this.#restartWith;
  }

  /** A newer desired pod of the same UID. A deletion timestamp starts the termination or shrinks its grace. */
  update(pod: Pod): void {
    if (this.#removed) {
      this.#restartWith = pod;
      return;
    }
    this.#pod = pod;
    if (pod.metadata?.deletionTimestamp !== undefined) this.kill({ reason: "deleted" });
    else this.wake();
  }

  /** Starts the termination, or shrinks the grace of one that is under way. Never lengthens it. */
  kill(request: KillRequest): void {
    const current = "termination" in this.#state ? this.#state.termination : undefined;
    const graceSeconds = effectiveGrace({
      current: current?.graceSeconds,
      deletionGraceSeconds: toNumber(this.#pod.metadata?.deletionGracePeriodSeconds),
      overrideSeconds: request.graceSeconds,
      specSeconds: toNumber(this.#pod.spec?.terminationGracePeriodSeconds),
    });
    const termination: Termination = {
      graceSeconds,
      status: current?.status ?? request.status,
      evicted: (current?.evicted ?? false) || request.evict === true,
      deleted:
        (current?.deleted ?? false) ||
        request.reason === "deleted" ||
        request.reason === "removed" ||
        request.reason === "orphan",
      reason: current?.reason ?? request.reason,
    };
    if (current === undefined) this.#move({ phase: "terminating", termination });
    else if (this.#state.phase !== "syncing" && this.#state.phase !== "waiting") {
      const shrank = current.graceSeconds !== undefined && graceSeconds < current.graceSeconds;
      this.#state = { phase: this.#state.phase, termination };
      if (!shrank) {
        this.#wake.wake();
        return;
      }
    }
    this.#attempt?.abort();
    this.#wake.wake();
  }

  /** The pod is in no source any more: it is stopped, and its content removed. */
  remove(reason: "removed" | "orphan" = "removed", graceSeconds?: number): void {
    this.#removed = true;
    this.#restartWith = undefined;
    this.kill({ reason, ...(graceSeconds !== undefined && { graceSeconds }) });
  }

  /** Leaves `waiting`. */
  proceed(): void {
    if (this.#state.phase !== "waiting") return;
    this.#move({ phase: "syncing" });
    this.#wake.wake();
  }

  /** Looks at the pod again soon; wakes that come while one is pending are one. */
  wake(): void {
    this.#wake.wake();
    this.#news.abort();
  }

  /** Works until the pod is finished and removed, or the agent stops. Never rejects. */
  async run(): Promise<void> {
    const { stop } = this.#options;
    if (this.#pod.metadata?.deletionTimestamp !== undefined) this.kill({ reason: "deleted" });
    this.#wake.wake();
    while (!stop.aborted) {
      await this.#wake.wait(stop);
      this.#wake.clear();
      if (stop.aborted || (await this.#attemptStep(stop))) break;
    }
    // A time set by the last step would keep the process alive.
    this.#wake.clear();
  }

  /** One step with a cancellation of its own; true when the worker's life is over. A failure sets the time of the next try. */
  async #attemptStep(stop: AbortSignal): Promise<boolean> {
    // All syncs of a pod share one: a pull that one of them began goes on in the next.
    const isKept = this.#state.phase === "syncing" && this.#attempt?.signal.aborted === false;
    const attempt = isKept && this.#attempt !== undefined ? this.#attempt : new AbortController();
    this.#attempt = attempt;
    this.#news = new AbortController();
    const signal = AbortSignal.any([stop, attempt.signal]);
    this.#busy = true;
    try {
      return await this.#step(signal);
    } catch (error) {
      this.#failed(error, signal);
      return false;
    } finally {
      this.#busy = false;
    }
  }

  /** One step of the present phase; true when the worker's life is over. */
  async #step(signal: AbortSignal): Promise<boolean> {
    const state = this.#state;
    const pod = this.#pod;
    const { lifecycle } = this.#options;
    switch (state.phase) {
      case "waiting":
        return false;
      case "syncing": {
        const outcome = await lifecycle.sync({ pod, signal, news: this.#news.signal });
        if (outcome.terminal && this.#state.phase === "syncing") this.kill({ reason: "terminal" });
        else this.#wake.wakeAfter(outcome.nextSyncMs);
        return false;
      }
      case "terminating":
        await lifecycle.terminate({ pod, termination: state.termination, signal });
        this.#move({ phase: "terminated", termination: this.#termination() });
        this.#wake.wake();
        return false;
      case "terminated":
        await lifecycle.cleanUp({ pod, termination: state.termination, signal });
        this.#move({ phase: "finished", termination: this.#termination() });
        this.#wake.wake();
        return false;
      case "finished":
        if (!this.#removed) {
          await lifecycle.stopLate({ pod, signal });
          return false;
        }
        await lifecycle.removeContent({ pod, signal });
        return true;
    }
  }

  #termination(): Termination {
    if (!("termination" in this.#state)) throw new Error(`pod worker in phase ${this.#state.phase} has no termination`);
    return this.#state.termination;
  }

  #move(next: WorkerState): void {
    this.#state = moveTo(this.#state, next);
    this.#options.onPhase(this);
  }

  #failed(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    const retryMs = ERROR_RETRY_MS * (1 + this.#options.random.float() * ERROR_JITTER);
    this.#tellFailure(error, retryMs);
    this.#wake.wakeAfter(this.#state.phase === "syncing" ? retryMs : Math.min(retryMs, 2000));
  }

  /** The same failure again is told aloud once a minute. */
  #tellFailure(error: unknown, retryMs: number): void {
    const { logger, clock } = this.#options;
    const { phase } = this.#state;
    const nowMs = clock.monotonicMs();
    const words = `${phase}: ${String(error)}`;
    const retryInMs = Math.round(retryMs);
    const isNews = words !== this.#told?.words || nowMs - this.#told.atMs >= TELL_AGAIN_MS;
    if (isNews) this.#told = { words, atMs: nowMs };
    if (isNews) logger.error("Pod sync failed; it is tried again", { err: error, phase, retryInMs });
    else logger.debug(3, "Pod sync failed again", { reason: String(error), phase, retryInMs });
  }
}

function toNumber(value: number | bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}
