import type { Pod, PodStatus } from "../api/index.ts";
import { withDeadline } from "../async/delay.ts";
import { Wake } from "../async/wake.ts";
import { NodeletError } from "../errors/nodelet-error.ts";
import { isMirrorPod } from "../pods/index.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { PodStatusSink, StatusOutcome } from "../ports/pod-status-sink.ts";
import { sameStatus } from "./equality.ts";
import { needsReconcile, outgoingStatus } from "./outgoing-status.ts";
import { terminalStatus } from "./terminal-status.ts";
import { illegalTransition, withFinalPhase, withTerminalReadiness } from "./transitions.ts";

/** Upstream's full pass; also the pause after a write that failed. */
const FULL_PASS_MS = 10_000;
const WRITE_TIMEOUT_MS = 30_000;
const CONFLICT_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 300_000;

/** Where statuses go, and who is told of changes. */
export interface StatusManagerOptions {
  readonly ports: { readonly clock: Clock; readonly logger: Logger; readonly sink: PodStatusSink };
  /** Told after the held status of a pod changed, or was forgotten. */
  readonly onChange?: (podUid: string) => void;
}

/** Told of every change of a held status; undefined = forgotten. */
export type StatusListener = (podUid: string, status: PodStatus | undefined) => void;

interface Entry {
  pod: Pod;
  status: PodStatus;
  /** Counts changes of the status; `written` is the version that the sink has. */
  version: number;
  written: number;
  told: PodStatus | undefined;
  writing: boolean;
  conflicts: number;
  /** Monotonic time before which nothing is sent. */
  notBeforeMs: number;
  finished: boolean;
  /** The sink knows that the pod is finished: nothing more is sent. */
  closed: boolean;
  /** The sink has no such object: nothing more is sent until a source shows it. */
  gone: boolean;
}

/**
 * Holds the status of every pod and brings it to the sink: one write a pod at a time, the newest status only, and only what changed. Failed writes
 * are tried again at the next full pass, every 10 s. A terminal phase is never left, and a container that ended for good never lives again.
 * Nothing is sent before `run`.
 */
export class StatusManager {
  readonly #options: StatusManagerOptions;
  readonly #entries = new Map<string, Entry>();
  /** UIDs with something to send. */
  readonly #dirty = new Set<string>();
  readonly #listeners = new Set<StatusListener>();
  readonly #wake: Wake;
  /** Writes under way by UID: a pod that is forgotten and comes back waits for the last write of its earlier life. */
  readonly #writes = new Map<string, Promise<void>>();

  constructor(options: StatusManagerOptions) {
    this.#options = options;
    this.#wake = new Wake(options.ports.clock);
  }

  /** How many statuses are held, and how many of them are to be sent or under way. */
  get size(): number {
    return this.#entries.size + this.#dirty.size + this.#writes.size;
  }

  /** The held status of a pod. */
  get(podUid: string): PodStatus | undefined {
    return this.#entries.get(podUid)?.status;
  }

  /**
   * Takes a newly computed status and answers the one that is held from now on. An update that would revive a container which ended for good is
   * dropped; a terminal phase stays; what says the same as before changes nothing.
   */
  set(pod: Pod, status: PodStatus): PodStatus {
    const uid = pod.metadata?.uid ?? "";
    const held = this.#entries.get(uid);
    const before = held?.status ?? pod.status;
    const fault = before === undefined ? undefined : illegalTransition(pod, before, status);
    if (fault !== undefined && before !== undefined) {
      this.#logOf(pod).error("A status was dropped, since it would revive a container that ended", { reason: fault });
      return before;
    }
    const next = withTerminalReadiness(withFinalPhase(before, status), this.#options.ports.clock.nowMs());
    return this.#hold(uid, pod, next);
  }

  /** The pod ended and nothing of it runs: whatever is open in its status is closed. Answers the last status. */
  terminate(pod: Pod): PodStatus {
    const uid = pod.metadata?.uid ?? "";
    const status = this.#entries.get(uid)?.status ?? pod.status ?? {};
    return this.#hold(uid, pod, terminalStatus(pod, status, this.#options.ports.clock.nowMs()));
  }

  /**
   * Everything of the pod is gone from the node. Once its last status is written and its deletion was asked for (now, or later by way of
   * `reconcile`), the sink is told, once.
   */
  finished(pod: Pod): void {
    const uid = pod.metadata?.uid ?? "";
    const entry = this.#entries.get(uid) ?? this.#open(uid, pod, pod.status ?? {});
    entry.pod = newerPod(entry.pod, pod);
    entry.finished = true;
    this.#touch(uid);
  }

  /** The source shows the pod anew. Where its status differs from ours in what is ours to say, ours is written again. */
  reconcile(pod: Pod): void {
    const uid = pod.metadata?.uid ?? "";
    const entry = this.#entries.get(uid);
    if (entry === undefined) return;
    entry.pod = pod;
    // An object that was said to be gone and is shown is there: it needs our word again.
    if (entry.gone) {
      entry.gone = false;
      entry.written = 0;
    }
    const settled = entry.written === entry.version && !entry.writing;
    if (settled && pod.status !== undefined && entry.told !== undefined && needsReconcile(entry.told, pod.status)) {
      entry.written = 0;
    }
    this.#touch(uid);
  }

  /** Drops everything about a pod. What is being written goes on. */
  forget(podUid: string): void {
    this.#dirty.delete(podUid);
    if (this.#entries.delete(podUid)) this.#tell(podUid, undefined);
  }

  /** Calls the listener on every change; answers how to stop that. */
  subscribe(listener: StatusListener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Sends until the signal fires; then waits for writes under way, which are cancelled. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    this.#wake.wake();
    while (!signal.aborted) {
      await this.#wake.wait(signal);
      if (signal.aborted) break;
      this.#sendDue(signal);
    }
    this.#wake.clear();
    await Promise.all(this.#writes.values());
  }

  #hold(uid: string, pod: Pod, status: PodStatus): PodStatus {
    const entry = this.#entries.get(uid);
    if (entry === undefined) {
      this.#open(uid, pod, status);
    } else {
      entry.pod = newerPod(entry.pod, pod);
      if (sameStatus(entry.status, status)) return entry.status;
      entry.status = status;
      entry.version += 1;
    }
    this.#touch(uid);
    this.#tell(uid, status);
    return status;
  }

  #open(uid: string, pod: Pod, status: PodStatus): Entry {
    const entry: Entry = {
      pod,
      status,
      version: 1,
      written: 0,
      told: undefined,
      writing: false,
      conflicts: 0,
      notBeforeMs: Number.NEGATIVE_INFINITY,
      finished: false,
      closed: false,
      gone: false,
    };
    // What the source already shows need not be written to it.
    if (pod.status !== undefined && !needsReconcile(outgoingStatus(status, pod.status), pod.status)) {
      entry.written = 1;
      entry.told = pod.status;
    }
    this.#entries.set(uid, entry);
    return entry;
  }

  #touch(uid: string): void {
    this.#dirty.add(uid);
    this.#wake.wake();
  }

  #tell(uid: string, status: PodStatus | undefined): void {
    this.#options.onChange?.(uid);
    for (const listener of this.#listeners) listener(uid, status);
  }

  #sendDue(signal: AbortSignal): void {
    const nowMs = this.#options.ports.clock.monotonicMs();
    for (const uid of this.#dirty) {
      const entry = this.#entries.get(uid);
      const next = entry === undefined ? undefined : nextSend(entry);
      if (entry === undefined || next === undefined) {
        if (entry?.writing !== true) this.#dirty.delete(uid);
        continue;
      }
      if (entry.notBeforeMs > nowMs) {
        this.#wake.wakeAfter(entry.notBeforeMs - nowMs);
        continue;
      }
      if (this.#writes.has(uid)) continue;
      const write: Promise<void> = this.#send(entry, next, signal).finally(() => {
        this.#writes.delete(uid);
        this.#wake.wake();
      });
      this.#writes.set(uid, write);
    }
  }

  async #send(entry: Entry, what: "status" | "finished", signal: AbortSignal): Promise<void> {
    entry.writing = true;
    const { version, pod } = entry;
    const status = outgoingStatus(entry.status, entry.told);
    const withheld = status !== entry.status;
    try {
      const outcome = await this.#call({ pod, status, what, signal });
      this.#settle(entry, outcome);
      if (outcome.kind !== "accepted") return;
      if (what === "finished") entry.closed = true;
      else {
        entry.written = version;
        entry.told = status;
        if (withheld) this.#logOf(pod).debug(3, "The end of the pod is told once its containers stopped");
      }
    } catch (error) {
      entry.notBeforeMs = this.#options.ports.clock.monotonicMs() + FULL_PASS_MS;
      if (!signal.aborted) {
        const reason = NodeletError.from(error).message;
        this.#logOf(pod).warn("Writing a pod's status failed; it is written again", {
          reason,
          retryInMs: FULL_PASS_MS,
        });
      }
    } finally {
      entry.writing = false;
    }
  }

  #call(request: {
    readonly pod: Pod;
    readonly status: PodStatus;
    readonly what: "status" | "finished";
    readonly signal: AbortSignal;
  }): Promise<StatusOutcome> {
    const { clock, sink } = this.#options.ports;
    const { pod, status, what } = request;
    const deadline = { clock, timeoutMs: WRITE_TIMEOUT_MS, what: "the status sink", parent: request.signal };
    return withDeadline(deadline, (signal) =>
      what === "finished" ? sink.podFinished({ pod, signal }) : sink.writeStatus({ pod, status, signal }),
    );
  }

  /** When to try again after an answer, and whether to. */
  #settle(entry: Entry, outcome: StatusOutcome): void {
    const nowMs = this.#options.ports.clock.monotonicMs();
    const pause = (delayMs: number): void => {
      entry.notBeforeMs = nowMs + Math.min(Math.max(delayMs, 0), LONGEST_PAUSE_MS);
    };
    switch (outcome.kind) {
      case "accepted":
        entry.conflicts = 0;
        return;
      case "gone":
        entry.gone = true;
        return;
      case "conflict":
        pause(Math.min(CONFLICT_PAUSE_MS * 2 ** entry.conflicts, FULL_PASS_MS));
        entry.conflicts += 1;
        return;
      case "forbidden":
        this.#logOf(entry.pod).error("The sink refuses a pod's status; it is written again", {
          reason: outcome.message,
          retryInMs: FULL_PASS_MS,
        });
        pause(FULL_PASS_MS);
        return;
      case "retryAfter":
        pause(Math.max(outcome.delayMs, CONFLICT_PAUSE_MS));
        return;
    }
  }

  #logOf(pod: Pod): Logger {
    const { name = "", namespace = "", uid = "" } = pod.metadata ?? {};
    return this.#options.ports.logger.with({ pod: `${namespace}/${name}`, podUID: uid });
  }
}

/** What has to be sent of a pod next. The end is told after the last status, and only to somebody who asked for the deletion. */
function nextSend(entry: Entry): "status" | "finished" | undefined {
  if (entry.closed || entry.gone) return undefined;
  if (entry.written !== entry.version) return "status";
  const asked = entry.finished && entry.pod.metadata?.deletionTimestamp !== undefined;
  return asked && !isMirrorPod(entry.pod) ? "finished" : undefined;
}

/** The newer of two objects of one pod: a deletion, once asked for, is not forgotten for a worker's older copy. */
function newerPod(held: Pod, next: Pod): Pod {
  const deleted = (pod: Pod): boolean => pod.metadata?.deletionTimestamp !== undefined;
  return deleted(held) && !deleted(next) ? held : next;
}
