import { delay, orCancelled, withDeadline } from "../async/delay.ts";
import { isErrorOfKind } from "../errors/nodelet-error.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { ContainerLogs, PodFiles } from "../ports/pod-files.ts";
import type { RuntimeService } from "../ports/runtime-service.ts";
import type {
  ContainerEvent,
  ContainerSummary,
  CriContainerStatus,
  SandboxStatus,
  SandboxSummary,
} from "../ports/runtime-types.ts";
import { groupListing, type PodListing, sameListing } from "./observe/listing.ts";
import { type Look, LookOrder } from "./observe/look-order.ts";
import { toObservedContainer, toObservedPod, toObservedSandbox } from "./observe/observed.ts";
import { emptyObservedPod, type ObservedContainer, type ObservedPod, type ObservedSandbox } from "./observed-pod.ts";
import { readTerminationMessage } from "./termination-message.ts";

/** Upstream's relist period and the age of the last relist from which the observer counts as unhealthy. */
const RELIST_PERIOD_MS = 1000;
const UNHEALTHY_AFTER_MS = 180_000;
/** A pod whose worker is busy looks by itself; the relist looks too after that many rounds. */
const BUSY_ROUNDS = 5;
const EVENT_RETRY_MS = 5000;
/** How long the agent waits for the first looks of all pods before it goes on without the slow ones. */
const FIRST_LOOKS_MS = 10_000;
/** The adapter's own deadline comes first by this much. */
const SPARE_MS = 5000;
const POD_UID_LABEL = "io.kubernetes.pod.uid";

/** What the observer looks through. */
export interface ObserverPorts {
  readonly runtime: RuntimeService;
  readonly podFiles: PodFiles;
  readonly containerLogs: ContainerLogs;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How the observer looks, and whom it tells. */
export interface ObserverOptions {
  readonly ports: ObserverPorts;
  /** Longest time that one look may take; the adapter's own deadlines come first. */
  readonly callTimeoutMs: number;
  /** Use the runtime's event stream, where it has one, to look sooner. */
  readonly events: boolean;
  /** True while the pod's worker acts: it looks itself right after its calls. */
  readonly isBusy: (podUid: string) => boolean;
  /** Told after the cache took a look in which something differed. */
  readonly onChange: (pod: ObservedPod, previous: ObservedPod | undefined) => void;
}

/**
 * Watches the runtime: a relist once a second in which only pods whose rows changed are inspected, runtime events as hints that hasten a look,
 * and looks that workers ask for right after their own calls. Holds the pod cache. A look that began before a newer one ended is dropped.
 */
export class Observer {
  readonly #options: ObserverOptions;
  readonly #cache = new Map<string, ObservedPod>();
  /** What the last inspected rows were; a pod whose inspection failed keeps its old rows, so the next relist tries again. */
  readonly #listings = new Map<string, PodListing>();
  readonly #busyRounds = new Map<string, number>();
  readonly #inspecting = new Set<string>();
  /** Pods that the runtime listed and whose first look has not succeeded yet: what they have is not known. */
  readonly #unlooked = new Set<string>();
  /** Sandboxes that were asked about right after they were made, until a look at their pod takes them up. By pod UID. */
  readonly #learned = new Map<string, ObservedSandbox>();
  readonly #order = new LookOrder();
  #lastRelistMs: number;
  #lastError: unknown;
  #markReady: () => void = () => undefined;
  #isReady = false;
  /** Resolves after the first relist that succeeded. */
  readonly ready: Promise<void>;

  constructor(options: ObserverOptions) {
    this.#options = options;
    this.#lastRelistMs = options.ports.clock.monotonicMs();
    this.ready = new Promise((resolve) => {
      this.#markReady = resolve;
    });
  }

  /** How many entries about pods are held. */
  get size(): number {
    const held = [
      this.#cache,
      this.#listings,
      this.#busyRounds,
      this.#inspecting,
      this.#unlooked,
      this.#learned,
      this.#order,
    ];
    return held.reduce((sum, { size }) => sum + size, 0);
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** The last look at a pod; an empty one when the runtime had nothing of it. */
  get(pod: { readonly uid: string; readonly name: string; readonly namespace: string }): ObservedPod {
    return this.#cache.get(pod.uid) ?? emptyObservedPod({ ...pod, lookedAtMs: this.#lastRelistMs });
  }

  /** True when the runtime has something of the pod, be it that it could not be looked at yet. */
  has(podUid: string): boolean {
    return this.#cache.has(podUid) || this.#unlooked.has(podUid);
  }

  /** False while the runtime has something of the pod that could not be looked at yet: `get` then says nothing about it. */
  isLooked(podUid: string): boolean {
    return !this.#unlooked.has(podUid);
  }

  /** Takes what was asked about a new sandbox: the look at its pod that comes next does not ask again. */
  learnSandbox(podUid: string, status: SandboxStatus): void {
    this.#learned.set(podUid, toObservedSandbox(status));
  }

  /** Every pod that the runtime has something of. */
  all(): readonly ObservedPod[] {
    return [...this.#cache.values()];
  }

  /** Undefined while relists succeed; else what is wrong, in upstream's words. */
  unhealthy(): string | undefined {
    const ageMs = this.#options.ports.clock.monotonicMs() - this.#lastRelistMs;
    if (ageMs < UNHEALTHY_AFTER_MS) return undefined;
    const cause = this.#lastError instanceof Error ? `: ${this.#lastError.message}` : "";
    return `pleg was last seen active ${Math.round(ageMs / 1000)}s ago; threshold is ${UNHEALTHY_AFTER_MS / 60_000}m0s${cause}`;
  }

  /** Relists and watches until the signal fires. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#relistLoop(signal), this.#eventLoop(signal)]);
  }

  /** Looks at one pod now and takes the result into the cache. Rejects when the runtime does not answer. */
  async look(
    pod: { readonly uid: string; readonly name: string; readonly namespace: string },
    options: { readonly signal?: AbortSignal; readonly fresh?: boolean } = {},
  ): Promise<ObservedPod> {
    const { runtime, clock } = this.#options.ports;
    const look = this.#order.begin(clock.monotonicMs());
    const labels = { [POD_UID_LABEL]: pod.uid };
    try {
      const [sandboxes, containers] = await this.#timed("listing a pod", options.signal, (signal) =>
        Promise.all([runtime.listSandboxes({ labels, signal }), runtime.listContainers({ labels, signal })]),
      );
      const listing = groupListing(sandboxes, containers).pods.get(pod.uid);
      if (listing !== undefined) return await this.#inspect(listing, look, options);
      this.#unlooked.delete(pod.uid);
      this.#forget(pod.uid, look);
      return emptyObservedPod({ ...pod, lookedAtMs: look.atMs });
    } finally {
      this.#order.end(look);
    }
  }

  async #relistLoop(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options.ports;
    while (!signal.aborted) {
      const beganMs = clock.monotonicMs();
      try {
        await this.#relist(signal);
        this.#lastError = undefined;
      } catch (error) {
        if (!signal.aborted && !sameMessage(error, this.#lastError))
          logger.error("Relist failed; trying again each second", { err: error });
        this.#lastError = error;
      }
      await delay(clock, Math.max(RELIST_PERIOD_MS - (clock.monotonicMs() - beganMs), RELIST_PERIOD_MS / 2), signal);
    }
  }

  async #relist(signal: AbortSignal): Promise<void> {
    const { runtime, clock } = this.#options.ports;
    const look = this.#order.begin(clock.monotonicMs());
    try {
      const [sandboxes, containers] = await this.#timed("the relist", signal, (call) =>
        Promise.all([runtime.listSandboxes({ signal: call }), runtime.listContainers({ signal: call })]),
      );
      const inspections = this.#lookAtChanged(groupListing(sandboxes, containers).pods, look, signal);
      // Nobody acts before the first looks are there; a pod whose look hangs must not hold up the others for long.
      if (!this.#isReady) await Promise.race([Promise.all(inspections), delay(clock, FIRST_LOOKS_MS, signal)]);
    } finally {
      this.#order.end(look);
    }
    this.#lastRelistMs = clock.monotonicMs();
    this.#isReady = true;
    this.#markReady();
  }

  #lookAtChanged(pods: ReadonlyMap<string, PodListing>, look: Look, signal: AbortSignal): readonly Promise<unknown>[] {
    const { logger } = this.#options.ports;
    const inspections: Promise<unknown>[] = [];
    for (const listing of pods.values()) {
      const previous = this.#listings.get(listing.uid);
      if (
        (previous !== undefined && sameListing(previous, listing)) ||
        this.#leaveToWorker(listing.uid) ||
        this.#inspecting.has(listing.uid)
      )
        continue;
      if (!this.#cache.has(listing.uid)) this.#unlooked.add(listing.uid);
      const inspection = this.#inspect(listing, look, { signal }).catch((error: unknown) => {
        if (!signal.aborted)
          logger.warn("Looking at a pod failed; the next relist tries again", {
            pod: `${listing.namespace}/${listing.name}`,
            podUID: listing.uid,
            reason: String(error),
          });
      });
      inspections.push(inspection);
    }
    for (const uid of [...this.#cache.keys()]) if (!pods.has(uid)) this.#forget(uid, look);
    for (const held of [this.#unlooked, this.#busyRounds, this.#learned])
      for (const uid of [...held.keys()]) if (!pods.has(uid)) held.delete(uid);
    return inspections;
  }

  /** Runs one look with a deadline that holds even if the adapter keeps none. */
  #timed<T>(what: string, parent: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { ports, callTimeoutMs } = this.#options;
    const timeoutMs = callTimeoutMs + SPARE_MS;
    return withDeadline({ clock: ports.clock, timeoutMs, what, ...(parent && { parent }) }, work);
  }

  #leaveToWorker(uid: string): boolean {
    if (!this.#options.isBusy(uid)) {
      this.#busyRounds.delete(uid);
      return false;
    }
    const rounds = (this.#busyRounds.get(uid) ?? 0) + 1;
    this.#busyRounds.set(uid, rounds % BUSY_ROUNDS);
    return rounds < BUSY_ROUNDS;
  }

  async #inspect(
    listing: PodListing,
    look: Look,
    options: { readonly signal?: AbortSignal; readonly fresh?: boolean },
  ): Promise<ObservedPod> {
    const previous = options.fresh ? undefined : this.#cache.get(listing.uid);
    this.#inspecting.add(listing.uid);
    this.#order.hold(look);
    try {
      const [sandboxes, containers] = await this.#timed("looking at a pod", options.signal, (signal) =>
        Promise.all([
          Promise.all(listing.sandboxes.map((row) => this.#observeSandbox(row, previous, signal))),
          Promise.all(listing.containers.map((row) => this.#observeContainer(row, listing, previous, signal))),
        ]),
      );
      const present = <T>(item: T | undefined): item is T => item !== undefined;
      const seen = { sandboxes: sandboxes.filter(present), containers: containers.filter(present) };
      return this.#take(toObservedPod({ ...listing, ...seen, lookedAtMs: look.atMs }), listing, look);
    } finally {
      this.#inspecting.delete(listing.uid);
      this.#order.end(look);
    }
  }

  #take(next: ObservedPod, listing: PodListing, look: Look): ObservedPod {
    const current = this.#cache.get(next.uid);
    if (!this.#order.take(next.uid, look)) return current ?? this.get(next);
    this.#unlooked.delete(next.uid);
    this.#learned.delete(next.uid);
    this.#listings.set(next.uid, listing);
    this.#cache.set(next.uid, next);
    if (current === undefined || !sameContent(current, next)) this.#options.onChange(next, current);
    return next;
  }

  #forget(uid: string, look: Look): void {
    const current = this.#cache.get(uid);
    if (!this.#order.takeGone(uid, look) || current === undefined) return;
    this.#cache.delete(uid);
    this.#listings.delete(uid);
    this.#busyRounds.delete(uid);
    this.#learned.delete(uid);
    const { name, namespace } = current;
    this.#options.onChange(emptyObservedPod({ uid, name, namespace, lookedAtMs: look.atMs }), current);
  }

  async #observeSandbox(
    row: SandboxSummary,
    previous: ObservedPod | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ObservedSandbox | undefined> {
    const learned = this.#learned.get(row.metadata.uid);
    const known =
      previous?.sandboxes.find((sandbox) => sandbox.id === row.id) ?? (learned?.id === row.id ? learned : undefined);
    const ready = row.state === "SANDBOX_READY";
    // A ready sandbox without addresses may still get them; all else of a sandbox does not change while its state stays.
    const settled = known !== undefined && (!ready || known.networkMode === "NODE" || (known.ips?.length ?? 0) > 0);
    if (settled && known.ready === ready) return known;
    try {
      return toObservedSandbox(
        await this.#options.ports.runtime.sandboxStatus({ sandboxId: row.id, ...(signal && { signal }) }),
      );
    } catch (error) {
      if (isErrorOfKind(error, "notFound")) return undefined;
      throw error;
    }
  }

  async #observeContainer(
    row: ContainerSummary,
    listing: PodListing,
    previous: ObservedPod | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ObservedContainer | undefined> {
    const known = previous?.containers.find((container) => container.id === row.id);
    if (known !== undefined && known.state !== "unknown" && RUN_STATES[row.state] === known.state) return known;
    let status: CriContainerStatus;
    try {
      status = await this.#options.ports.runtime.containerStatus({ containerId: row.id, ...(signal && { signal }) });
    } catch (error) {
      if (isErrorOfKind(error, "notFound")) return undefined;
      throw error;
    }
    const ended = status.state === "CONTAINER_EXITED";
    const message = ended
      ? await readTerminationMessage({
          status,
          podUid: listing.uid,
          ports: this.#options.ports,
          ...(signal && { signal }),
        })
      : undefined;
    return toObservedContainer({ status, sandboxId: row.sandboxId, terminationMessage: message });
  }

  async #eventLoop(signal: AbortSignal): Promise<void> {
    const { runtime, clock, logger } = this.#options.ports;
    if (!this.#options.events) return;
    while (!signal.aborted) {
      try {
        const { containerEvents } = await this.#timed("the runtime's capabilities", signal, (call) =>
          runtime.capabilities({ signal: call }),
        );
        if (!containerEvents) return;
        const onEvent = (event: ContainerEvent): void => this.#onEvent(event, signal);
        await orCancelled(runtime.watchContainerEvents({ onEvent, signal }), { what: "watching events", signal });
      } catch (error) {
        if (isErrorOfKind(error, "unsupported")) return;
        if (!signal.aborted)
          logger.debug(2, "The runtime's event stream broke; relists go on meanwhile", { reason: String(error) });
      }
      await delay(clock, EVENT_RETRY_MS, signal);
    }
  }

  #onEvent(event: ContainerEvent, signal: AbortSignal): void {
    const uid = event.podUid ?? this.#uidOf(event.containerId);
    const known = uid === undefined ? undefined : this.#cache.get(uid);
    if (known === undefined || this.#options.isBusy(known.uid) || this.#inspecting.has(known.uid)) return;
    this.look(known, { signal }).catch(() => undefined);
  }

  #uidOf(containerId: string): string | undefined {
    for (const pod of this.#cache.values()) {
      if (
        pod.containers.some((container) => container.id === containerId) ||
        pod.sandboxes.some((sandbox) => sandbox.id === containerId)
      )
        return pod.uid;
    }
    return undefined;
  }
}

const RUN_STATES = {
  CONTAINER_CREATED: "created",
  CONTAINER_RUNNING: "running",
  CONTAINER_EXITED: "exited",
  CONTAINER_UNKNOWN: "unknown",
} as const;

function sameContent(left: ObservedPod, right: ObservedPod): boolean {
  return (
    left.sandboxes.length === right.sandboxes.length &&
    left.containers.length === right.containers.length &&
    left.sandboxes.every((sandbox, index) => sandbox === right.sandboxes[index]) &&
    left.containers.every((container, index) => container === right.containers[index])
  );
}

function sameMessage(left: unknown, right: unknown): boolean {
  return left instanceof Error && right instanceof Error && left.message === right.message;
}
