import type { Pod } from "../api/index.ts";
import { isStaticPod, podFullName } from "../pods/index.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { Random } from "../ports/random.ts";
import { type KillRequest, type PodLifecycle, PodWorker } from "./pod-worker.ts";
import type { WorkerPhase } from "./worker-state.ts";

/** What the pod workers share. */
export interface PodWorkersOptions {
  readonly lifecycle: PodLifecycle;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly stop: AbortSignal;
  /** Told when a worker reached `finished`, and when it is gone. */
  readonly onFinished: (worker: PodWorker) => void;
  readonly onGone: (worker: PodWorker) => void;
}

/**
 * One worker a pod UID. Static pods of one full name run one after another: a later UID waits until the earlier one finished, as a changed
 * manifest is a new pod.
 */
export class PodWorkers {
  readonly #options: PodWorkersOptions;
  readonly #byUid = new Map<string, PodWorker>();
  /** UIDs of static pods by full name, in order of arrival; the first one may run. */
  readonly #staticQueue = new Map<string, string[]>();
  readonly #running = new Set<Promise<void>>();

  constructor(options: PodWorkersOptions) {
    this.#options = options;
  }

  /** How many workers, queues of static pods and running lives are held. */
  get size(): number {
    return this.#byUid.size + this.#staticQueue.size + this.#running.size;
  }

  get(podUid: string): PodWorker | undefined {
    return this.#byUid.get(podUid);
  }

  all(): readonly PodWorker[] {
    return [...this.#byUid.values()];
  }

  isBusy(podUid: string): boolean {
    return this.#byUid.get(podUid)?.busy ?? false;
  }

  phase(podUid: string): WorkerPhase | undefined {
    return this.#byUid.get(podUid)?.phase;
  }

  /** Starts a worker for the pod, or hands the newer pod to the one that is there. */
  update(pod: Pod): PodWorker {
    const uid = pod.metadata?.uid ?? "";
    const known = this.#byUid.get(uid);
    if (known !== undefined) {
      known.update(pod);
      return known;
    }
    return this.#start(pod);
  }

  kill(podUid: string, request: KillRequest): void {
    this.#byUid.get(podUid)?.kill(request);
  }

  /** The pod left its source. */
  remove(podUid: string): void {
    this.#byUid.get(podUid)?.remove();
  }

  /** Something of the runtime's that no source knows: stopped with a grace of 1 s and removed. */
  removeOrphan(pod: Pod): void {
    const uid = pod.metadata?.uid ?? "";
    if (!this.#byUid.has(uid)) this.#start(pod).remove("orphan", 1);
  }

  wake(podUid: string): void {
    this.#byUid.get(podUid)?.wake();
  }

  wakeAll(): void {
    for (const worker of this.#byUid.values()) worker.wake();
  }

  /** Resolves once every worker stopped after `stop` fired. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #start(pod: Pod): PodWorker {
    const { lifecycle, clock, random, logger, stop } = this.#options;
    const uid = pod.metadata?.uid ?? "";
    const waiting = isStaticPod(pod) && !this.#enqueueStatic(pod, uid);
    const worker = new PodWorker({
      pod,
      lifecycle,
      clock,
      random,
      logger: logger.with({ pod: `${pod.metadata?.namespace ?? ""}/${pod.metadata?.name ?? ""}`, podUID: uid }),
      stop,
      waiting,
      onPhase: (changed) => this.#onPhase(changed),
    });
    this.#byUid.set(uid, worker);
    const life: Promise<void> = worker.run().then(() => {
      this.#running.delete(life);
      if (!stop.aborted) this.#gone(worker);
    });
    this.#running.add(life);
    return worker;
  }

  #onPhase(worker: PodWorker): void {
    if (worker.phase !== "finished") return;
    if (isStaticPod(worker.pod)) this.#dequeueStatic(worker);
    this.#options.onFinished(worker);
  }

  #gone(worker: PodWorker): void {
    this.#byUid.delete(worker.uid);
    if (isStaticPod(worker.pod)) this.#dequeueStatic(worker);
    this.#options.onGone(worker);
    const again = worker.restartWith;
    if (again !== undefined) this.update(again);
  }

  /** True when the pod may run at once. */
  #enqueueStatic(pod: Pod, uid: string): boolean {
    const name = podFullName(pod);
    const queue = this.#staticQueue.get(name) ?? [];
    if (!queue.includes(uid)) queue.push(uid);
    this.#staticQueue.set(name, queue);
    return queue[0] === uid;
  }

  #dequeueStatic(worker: PodWorker): void {
    const name = podFullName(worker.pod);
    const queue = this.#staticQueue.get(name);
    if (queue === undefined) return;
    const rest = queue.filter((uid) => uid !== worker.uid);
    if (rest.length === 0) this.#staticQueue.delete(name);
    else this.#staticQueue.set(name, rest);
    const next = rest[0];
    if (next !== undefined) this.#byUid.get(next)?.proceed();
  }
}
