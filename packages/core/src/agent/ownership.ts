import type { Pod } from "../api/index.ts";
import type { DecisionSink } from "../decisions/decision.ts";
import type { PodFiles } from "../ports/pod-files.ts";
import type { ObservedPod } from "../runtime/observed-pod.ts";

/**
 * Whose a pod in the runtime is. A pod is ours when this root directory has a directory for its UID (made before the sandbox, removed after
 * it), when a source asks for that UID, or when we were told to take everything over. All else is left alone and reported once.
 */
export class Ownership {
  readonly #podFiles: PodFiles;
  readonly #decisions: DecisionSink;
  readonly #takeOver: boolean;
  readonly #owned = new Set<string>();
  readonly #reported = new Set<string>();

  constructor(options: { readonly podFiles: PodFiles; readonly decisions: DecisionSink; readonly takeOver: boolean }) {
    this.#podFiles = options.podFiles;
    this.#decisions = options.decisions;
    this.#takeOver = options.takeOver;
  }

  /** Reads which pods this root directory knows from before. */
  async load(signal: AbortSignal): Promise<void> {
    for (const uid of await this.#podFiles.listPods({ signal })) this.#owned.add(uid);
  }

  claim(podUid: string): void {
    this.#owned.add(podUid);
  }

  release(podUid: string): void {
    this.#owned.delete(podUid);
    this.#reported.delete(podUid);
  }

  owns(podUid: string): boolean {
    return this.#takeOver || this.#owned.has(podUid);
  }

  /** Pods of the runtime that are not ours. */
  foreign(observed: readonly ObservedPod[]): readonly ObservedPod[] {
    return observed.filter((pod) => !this.owns(pod.uid));
  }

  /** Tells once that a foreign pod is left alone, and how to adopt it. */
  report(pod: ObservedPod): void {
    if (this.#reported.has(pod.uid)) return;
    this.#reported.add(pod.uid);
    this.#decisions.record({
      action: "ignore",
      pod: { uid: pod.uid, name: pod.name, namespace: pod.namespace },
      reason: "ForeignPod",
      message: `Pod ${pod.namespace}/${pod.name} in the runtime was not made by this root directory; it is left alone. Stop its own agent and start with --take-over to adopt it`,
      inputs: { sandboxes: pod.sandboxes.length, containers: pod.containers.length },
      outcome: "rejected",
    });
  }
}

/**
 * Lets a static pod keep the UID under which it already runs: another kubelet computed another UID for the same manifest. A live pod is the
 * same when name, namespace and source fit and it is known under no UID of ours. Pure; pods that need nothing stay the same objects.
 */
export function adoptLiveUids(options: {
  readonly pods: readonly Pod[];
  readonly observed: readonly ObservedPod[];
  /** UIDs taken before, by our own UID: an adopted pod keeps its live UID as long as its manifest does not change. */
  readonly adopted: Map<string, string>;
}): readonly Pod[] {
  const wanted = new Set(options.pods.map((pod) => pod.metadata?.uid));
  return options.pods.map((pod) => {
    const uid = pod.metadata?.uid ?? "";
    const known = options.adopted.get(uid);
    const live =
      known ??
      options.observed.find(
        (candidate) =>
          candidate.name === pod.metadata?.name &&
          candidate.namespace === pod.metadata?.namespace &&
          !wanted.has(candidate.uid) &&
          candidate.sandboxes.some((sandbox) => sandbox.ready),
      )?.uid;
    if (live === undefined || live === uid) return pod;
    options.adopted.set(uid, live);
    return { ...pod, metadata: { ...pod.metadata, uid: live } };
  });
}
