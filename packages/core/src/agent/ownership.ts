import type { DecisionSink } from "../decisions/decision.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { PodFiles } from "../ports/pod-files.ts";
import type { StateStore } from "../ports/state-store.ts";
import type { ObservedPod } from "../runtime/observed-pod.ts";

const STATE_FILE = "uncertain_pods_state";
/** No runtime works on a call that its client gave up for longer than this. */
const UNCERTAIN_MS = 3_600_000;
const MAX_UNCERTAIN = 1000;

/** What ownership is decided from and kept in. */
export interface OwnershipOptions {
  readonly ports: {
    readonly podFiles: PodFiles;
    readonly state: StateStore;
    readonly clock: Clock;
    readonly logger: Logger;
  };
  readonly decisions: DecisionSink;
  readonly takeOver: boolean;
}

/**
 * Whose a pod in the runtime is. A pod is ours when this root directory has a directory for its UID (made before the sandbox, removed after
 * it), when a source asks for that UID, or when we were told to take everything over. A sandbox whose creation had an unknown outcome may appear
 * after its pod is gone: such UIDs stay ours for an hour, over restarts. All else is left alone and reported once.
 */
export class Ownership {
  readonly #options: OwnershipOptions;
  readonly #owned = new Set<string>();
  readonly #reported = new Set<string>();
  /** UID -> wall time until which a late sandbox of it is ours. */
  readonly #uncertain = new Map<string, number>();

  constructor(options: OwnershipOptions) {
    this.#options = options;
  }

  /** How many pods are held, without those of unknown outcome, which are held for an hour. */
  get size(): number {
    return this.#owned.size + this.#reported.size;
  }

  /** Reads which pods this root directory knows from before. */
  async load(signal: AbortSignal): Promise<void> {
    const { podFiles, state, logger } = this.#options.ports;
    for (const uid of await podFiles.listPods({ signal })) this.#owned.add(uid);
    const read = await state.read({ name: STATE_FILE, signal });
    if (read.kind === "damaged") {
      logger.warn(
        "The list of pods with an unknown outcome was damaged and set aside; a late sandbox may be taken for foreign",
        {
          setAside: read.setAside,
          reason: read.reason,
        },
      );
    }
    if (read.kind !== "ok" || !Array.isArray(read.value)) return;
    for (const entry of read.value.slice(-MAX_UNCERTAIN)) {
      const [uid, untilMs] = Array.isArray(entry) ? (entry as readonly unknown[]) : [];
      if (typeof uid === "string" && typeof untilMs === "number") this.#uncertain.set(uid, untilMs);
    }
  }

  claim(podUid: string): void {
    this.#owned.add(podUid);
  }

  /** A sandbox of the pod may appear that nobody waits for. Resolves once that is kept. */
  async claimLate(podUid: string): Promise<void> {
    const { state, clock } = this.#options.ports;
    const nowMs = clock.nowMs();
    for (const [uid, untilMs] of this.#uncertain) if (untilMs < nowMs) this.#uncertain.delete(uid);
    this.#uncertain.set(podUid, nowMs + UNCERTAIN_MS);
    const [oldest] = this.#uncertain.keys();
    if (this.#uncertain.size > MAX_UNCERTAIN && oldest !== undefined) this.#uncertain.delete(oldest);
    await state.write({ name: STATE_FILE, value: [...this.#uncertain] });
  }

  release(podUid: string): void {
    this.#owned.delete(podUid);
    this.#reported.delete(podUid);
  }

  owns(podUid: string): boolean {
    return this.#options.takeOver || this.#owned.has(podUid) || this.#uncertain.has(podUid);
  }

  /** Foreign pods that are gone need not be remembered. */
  forgetReports(isThere: (podUid: string) => boolean): void {
    for (const uid of this.#reported) if (!isThere(uid)) this.#reported.delete(uid);
  }

  /** Tells once that a foreign pod is left alone, and how to adopt it. */
  report(pod: ObservedPod): void {
    if (this.#reported.has(pod.uid)) return;
    this.#reported.add(pod.uid);
    this.#options.decisions.record({
      action: "ignore",
      pod: { uid: pod.uid, name: pod.name, namespace: pod.namespace },
      reason: "ForeignPod",
      message: `Pod ${pod.namespace}/${pod.name} in the runtime was not made by this root directory; it is left alone. Stop its own agent and start with --take-over to adopt it`,
      inputs: { sandboxes: pod.sandboxes.length, containers: pod.containers.length },
      outcome: "rejected",
    });
  }
}
