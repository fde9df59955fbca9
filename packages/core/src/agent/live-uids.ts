import type { Pod } from "../api/index.ts";
import type { DecisionSink } from "../decisions/decision.ts";
import type { Logger } from "../ports/logger.ts";
import type { StateStore } from "../ports/state-store.ts";
import type { ObservedPod } from "../runtime/observed-pod.ts";

const STATE_FILE = "adopted_uids_state";
/** More static pods than any node has; the oldest go first. */
const MAX_ADOPTED = 1000;

/**
 * Lets static pods keep the UID under which they already run: another kubelet computed another UID for the same manifest. Which UID was adopted is
 * kept in a state file, so that a later start without --take-over replaces nothing either. A changed manifest is a new pod with its own UID.
 */
export class LiveUids {
  readonly #state: StateStore;
  readonly #logger: Logger;
  readonly #decisions: DecisionSink;
  /** Our UID -> the live one. */
  readonly #adopted = new Map<string, string>();

  constructor(options: {
    readonly ports: { readonly state: StateStore; readonly logger: Logger };
    readonly decisions: DecisionSink;
  }) {
    this.#state = options.ports.state;
    this.#logger = options.ports.logger;
    this.#decisions = options.decisions;
  }

  /** Takes up what an earlier run adopted. */
  async load(signal: AbortSignal): Promise<void> {
    const read = await this.#state.read({ name: STATE_FILE, signal });
    if (read.kind === "damaged") {
      const { setAside, reason } = read;
      this.#logger.warn("The list of adopted pod UIDs was damaged and set aside; adopted pods may be replaced", {
        setAside,
        reason,
      });
    }
    if (read.kind !== "ok" || !Array.isArray(read.value)) return;
    for (const entry of read.value.slice(-MAX_ADOPTED)) {
      const [ours, live] = Array.isArray(entry) ? (entry as readonly unknown[]) : [];
      if (typeof ours === "string" && typeof live === "string") this.#adopted.set(ours, live);
    }
  }

  /**
   * The pods under their live UIDs. With `takeOver` a pod that is not known yet adopts a live one of the same name and namespace, unless that one
   * was adopted before (then its manifest changed) or is wanted by itself. Pods that need nothing stay the same objects.
   */
  apply(request: {
    readonly pods: readonly Pod[];
    readonly observed: readonly ObservedPod[];
    readonly takeOver: boolean;
  }): readonly Pod[] {
    const { pods, observed, takeOver } = request;
    const wanted = new Set(pods.map((pod) => pod.metadata?.uid));
    const candidates = takeOver
      ? observed.filter((live) => !wanted.has(live.uid) && live.sandboxes.some((sandbox) => sandbox.ready))
      : [];
    const taken = new Set(this.#adopted.values());
    const free = candidates.filter((live) => !taken.has(live.uid));
    let isNews = false;
    const renamed = pods.map((pod) => {
      const known = this.#adopted.get(pod.metadata?.uid ?? "");
      if (known !== undefined) return withUid(pod, known);
      const live = liveOf(pod, free);
      if (live === undefined) return pod;
      this.#adopt(pod, live);
      isNews = true;
      return withUid(pod, live.uid);
    });
    if (isNews) void this.#save();
    return renamed;
  }

  #adopt(pod: Pod, live: ObservedPod): void {
    const uid = pod.metadata?.uid ?? "";
    this.#adopted.set(uid, live.uid);
    const [oldest] = this.#adopted.keys();
    if (this.#adopted.size > MAX_ADOPTED && oldest !== undefined) this.#adopted.delete(oldest);
    this.#decisions.record({
      action: "adopt",
      pod: { uid: live.uid, name: live.name, namespace: live.namespace },
      reason: "AdoptedUid",
      message: `Pod ${live.namespace}/${live.name} already runs under the UID ${live.uid}; it keeps it`,
      inputs: { manifestUid: uid },
      outcome: "ok",
    });
  }

  async #save(): Promise<void> {
    try {
      await this.#state.write({ name: STATE_FILE, value: [...this.#adopted] });
    } catch (error) {
      const message = "Writing the list of adopted pod UIDs failed; a restart without --take-over would replace them";
      this.#logger.error(message, { err: error });
    }
  }
}

function liveOf(pod: Pod, free: readonly ObservedPod[]): ObservedPod | undefined {
  const { name, namespace } = pod.metadata ?? {};
  return free.find((live) => live.name === name && live.namespace === namespace);
}

function withUid(pod: Pod, uid: string): Pod {
  return { ...pod, metadata: { ...pod.metadata, uid } };
}
