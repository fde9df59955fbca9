import {
  type Container,
  type EphemeralContainer,
  int64ToNumber,
  isTerminalPhase,
  type Pod,
  type PodStatus,
  type ResourceRequirements,
} from "../api/index.ts";
import { NodeletError, throwIfAborted } from "../errors/index.ts";
import type { Clock } from "../ports/clock.ts";
import type { PodSetListener, PodSource, PodSourceName } from "../ports/pod-source.ts";
import type { PodStatusSink, StatusOutcome } from "../ports/pod-status-sink.ts";
import type { Random } from "../ports/random.ts";
import { defaultEphemeralContainer, defaultPod } from "./defaults.ts";
import { decodeValue } from "./manifest/typed-value.ts";
import { sameValue } from "./same-value.ts";
import { parseRfc3339, rfc3339 } from "./timestamp.ts";
import { assertValidPod, assertValidUpdate, throwProblems, validatePod } from "./validation/index.ts";

/** Names one pod. */
export interface PodName {
  readonly name: string;
  /** Default `default`. */
  readonly namespace?: string;
}

/** Options of a deletion, as the API server takes them. */
export interface DeletePodOptions extends PodName {
  /** Seconds the containers get to stop; default the pod's own. 0 is taken as 1 unless `force` is set. */
  readonly graceSeconds?: number;
  /** Forget the object at once, without waiting for the node: the agent then kills what runs with the shortest grace. */
  readonly force?: boolean;
}

/** New resources of some containers (KEP-1287). */
export interface ResizePodOptions extends PodName {
  readonly containers: readonly { readonly name: string; readonly resources: ResourceRequirements }[];
}

/** What a programmatic source needs. */
export interface ProgrammaticPodSourceOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** The node that every pod is bound to. */
  readonly nodeName: string;
  /** Default `api`: its pods are ordinary pods. Any other name makes them static pods, as those of a file. */
  readonly name?: PodSourceName;
}

/**
 * A pod source that a program drives: what the API server is in a cluster, as far as one node sees of it. It assigns UIDs, generations and
 * times, applies defaults, validates, and keeps a deleted pod until the agent reports it finished. Methods are synchronous; each does all of
 * its work or throws a NodeletError (`invalid`, `notFound`, `conflict`) and does nothing. Objects it hands out are never changed afterwards.
 */
export class ProgrammaticPodSource implements PodSource {
  readonly name: PodSourceName;
  /** Give this to the agent: it keeps the last status of each pod and lets finished pods go. */
  readonly statusSink: PodStatusSink;
  readonly #options: ProgrammaticPodSourceOptions;
  /** By `<namespace>/<name>`, in the order of creation. */
  readonly #pods = new Map<string, Pod>();
  readonly #listeners = new Set<PodSetListener>();

  constructor(options: ProgrammaticPodSourceOptions) {
    this.#options = options;
    this.name = options.name ?? "api";
    this.statusSink = {
      writeStatus: async ({ pod, status, signal }) => {
        throwIfAborted(signal, "writing a pod's status");
        return this.#writeStatus({ pod, status });
      },
      podFinished: async ({ pod, signal }) => {
        throwIfAborted(signal, "finishing a pod");
        return this.#podFinished(pod);
      },
    };
  }

  /** Delivers the present set at once and after every change, until the signal fires. Several may run. */
  async run({ onPods, signal }: { readonly onPods: PodSetListener; readonly signal: AbortSignal }): Promise<void> {
    if (signal.aborted) return;
    this.#listeners.add(onPods);
    onPods(this.list());
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    this.#listeners.delete(onPods);
  }

  /**
   * Creates the pod, or updates what may change of it: images, activeDeadlineSeconds, more tolerations, labels, annotations. `invalid` names
   * every problem; `conflict` when the pod is being deleted.
   */
  apply(manifest: Pod): Pod {
    const given = decodeValue<Pod>({ value: manifest, type: "Pod", what: "invalid pod" });
    const namespace = given.metadata?.namespace || "default";
    const pod = defaultPod({ ...given, metadata: { ...given.metadata, namespace } });
    const existing = this.#pods.get(keyOf(pod.metadata ?? {}));
    return existing === undefined ? this.#create(pod) : this.#update({ existing, pod });
  }

  /**
   * Begins a graceful deletion, or shortens one that has begun: grace only shrinks. A pod that has ended already, or one deleted by force,
   * is gone at once.
   */
  delete(options: DeletePodOptions): void {
    const pod = this.#find(options);
    const { force = false, graceSeconds } = options;
    if (graceSeconds !== undefined && !(Number.isInteger(graceSeconds) && graceSeconds >= 0)) {
      throw new NodeletError(
        "invalid",
        `graceSeconds ${graceSeconds}: must be a whole number of seconds, zero or more`,
      );
    }
    if (force || isTerminalPhase(pod.status?.phase)) {
      this.#pods.delete(keyOf(pod.metadata ?? {}));
      this.#deliver();
      return;
    }
    const own = int64ToNumber(pod.spec?.terminationGracePeriodSeconds ?? 30);
    const next = withDeletion({ pod, grace: Math.max(1, graceSeconds ?? own), nowMs: this.#options.clock.nowMs() });
    if (next !== pod) this.#replace(next);
  }

  /** Asks for other cpu and memory of running containers. `notFound` when there is no such container. */
  resize(options: ResizePodOptions): Pod {
    const pod = this.#find(options);
    const wanted = new Map(
      options.containers.map(({ name, resources }) => [
        name,
        decodeValue<ResourceRequirements>({ value: resources, type: "ResourceRequirements", what: "invalid resize" }),
      ]),
    );
    const resized = (container: Container): Container => {
      const resources = wanted.get(container.name);
      wanted.delete(container.name);
      return resources === undefined
        ? container
        : { ...container, resources: { ...container.resources, ...resources } };
    };
    const containers = (pod.spec?.containers ?? []).map(resized);
    const initContainers = pod.spec?.initContainers?.map(resized);
    const [unknown] = wanted.keys();
    if (unknown !== undefined) throw new NodeletError("notFound", `pod ${label(pod)} has no container ${unknown}`);
    const next = defaultPod({
      ...pod,
      spec: { ...pod.spec, containers, ...(initContainers !== undefined && { initContainers }) },
    });
    throwProblems("invalid resize", validatePod(next));
    return sameValue(next.spec, pod.spec) ? pod : this.#replace(nextGeneration(next));
  }

  /** Adds a container for debugging to a running pod (KEP-277). It can never be changed or removed. */
  addEphemeralContainer(options: PodName & { readonly container: EphemeralContainer }): Pod {
    const pod = this.#find(options);
    const what = "invalid ephemeral container";
    const container = decodeValue<EphemeralContainer>({ value: options.container, type: "EphemeralContainer", what });
    const ephemeralContainers = [...(pod.spec?.ephemeralContainers ?? []), defaultEphemeralContainer(container)];
    const next: Pod = { ...pod, spec: { ...pod.spec, containers: pod.spec?.containers ?? [], ephemeralContainers } };
    throwProblems(what, validatePod(next));
    return this.#replace(nextGeneration(next));
  }

  /** The pod with the last status that the agent wrote. */
  get(name: PodName): Pod | undefined {
    return this.#pods.get(keyOf(name));
  }

  /** All pods in the order of their creation. */
  list(): readonly Pod[] {
    return [...this.#pods.values()];
  }

  #create(pod: Pod): Pod {
    const bound: Pod = {
      ...pod,
      spec: { ...pod.spec, containers: pod.spec?.containers ?? [], nodeName: this.#options.nodeName },
    };
    assertValidPod(bound);
    return this.#replace({
      ...bound,
      metadata: {
        ...bound.metadata,
        uid: bound.metadata?.uid || this.#options.random.uuid(),
        generation: 1,
        creationTimestamp: rfc3339(this.#options.clock.nowMs()),
      },
      status: { ...bound.status, phase: bound.status?.phase ?? "Pending" },
    });
  }

  #update({ existing, pod }: { readonly existing: Pod; readonly pod: Pod }): Pod {
    if (existing.metadata?.deletionTimestamp !== undefined) {
      throw new NodeletError("conflict", `pod ${label(existing)} is being deleted; apply it again once it is gone`);
    }
    const uid = pod.metadata?.uid;
    if (uid && uid !== existing.metadata?.uid) {
      throw new NodeletError("conflict", `pod ${label(existing)} has the UID ${existing.metadata?.uid}, not ${uid}`);
    }
    const kept = { nodeName: this.#options.nodeName, ephemeralContainers: existing.spec?.ephemeralContainers };
    const spec = { ...pod.spec, containers: pod.spec?.containers ?? [], ...withoutUndefined(kept) };
    const { labels, annotations } = pod.metadata ?? {};
    const metadata = { ...existing.metadata, ...withoutUndefined({ labels, annotations }) };
    const next: Pod = { ...existing, metadata, spec };
    assertValidUpdate({ before: existing, after: next });
    if (sameValue(next, existing)) return existing;
    return this.#replace(sameValue(next.spec, existing.spec) ? next : nextGeneration(next));
  }

  #find(name: PodName): Pod {
    const pod = this.#pods.get(keyOf(name));
    if (pod === undefined) throw new NodeletError("notFound", `there is no pod ${keyOf(name)}`);
    return pod;
  }

  #replace(pod: Pod): Pod {
    this.#pods.set(keyOf(pod.metadata ?? {}), pod);
    this.#deliver();
    return pod;
  }

  #deliver(): void {
    for (const listener of this.#listeners) listener(this.list());
  }

  /** Statuses are kept for readers and go out with the next set; by themselves they are no news to the agent that wrote them. */
  #writeStatus({ pod, status }: { readonly pod: Pod; readonly status: PodStatus }): StatusOutcome {
    const stored = this.#stored(pod);
    if (stored === undefined) return { kind: "gone" };
    this.#pods.set(keyOf(stored.metadata ?? {}), { ...stored, status });
    return { kind: "accepted" };
  }

  #podFinished(pod: Pod): StatusOutcome {
    const stored = this.#stored(pod);
    if (stored === undefined) return { kind: "gone" };
    if (stored.metadata?.deletionTimestamp === undefined) return { kind: "accepted" };
    this.#pods.delete(keyOf(stored.metadata));
    this.#deliver();
    return { kind: "accepted" };
  }

  /** The stored pod of the same name, unless another one took the name meanwhile. */
  #stored(pod: Pod): Pod | undefined {
    const stored = this.#pods.get(keyOf(pod.metadata ?? {}));
    return stored?.metadata?.uid === pod.metadata?.uid ? stored : undefined;
  }
}

function keyOf({ namespace, name }: { readonly namespace?: string; readonly name?: string }): string {
  return `${namespace || "default"}/${name ?? ""}`;
}

function label(pod: Pod): string {
  return keyOf(pod.metadata ?? {});
}

function nextGeneration(pod: Pod): Pod {
  return { ...pod, metadata: { ...pod.metadata, generation: int64ToNumber(pod.metadata?.generation ?? 0) + 1 } };
}

/** Sets the deletion marks; a second deletion moves the time back by what the grace shrank, and changes nothing when it did not shrink. */
function withDeletion({
  pod,
  grace,
  nowMs,
}: {
  readonly pod: Pod;
  readonly grace: number;
  readonly nowMs: number;
}): Pod {
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata ?? {};
  if (deletionTimestamp === undefined) {
    const marks = { deletionTimestamp: rfc3339(nowMs + grace * 1000), deletionGracePeriodSeconds: grace };
    return nextGeneration({ ...pod, metadata: { ...pod.metadata, ...marks } });
  }
  const before = int64ToNumber(deletionGracePeriodSeconds ?? 0);
  if (grace >= before) return pod;
  const begunMs = (parseRfc3339(deletionTimestamp) ?? nowMs) - before * 1000;
  const marks = { deletionTimestamp: rfc3339(begunMs + grace * 1000), deletionGracePeriodSeconds: grace };
  return { ...pod, metadata: { ...pod.metadata, ...marks } };
}

function withoutUndefined<T extends object>(members: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}
