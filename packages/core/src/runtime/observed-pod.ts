import type { CriContainerUser, LinuxContainerResources, NamespaceMode } from "../ports/runtime-types.ts";

/** State of a container instance; `unknown` when the runtime cannot tell. */
export type ContainerRunState = "created" | "running" | "exited" | "unknown";

/** One container instance as the runtime told of it at the last look. Immutable. */
export interface ObservedContainer {
  readonly id: string;
  readonly sandboxId: string;
  readonly name: string;
  /** CRI attempt; equals the restart count for containers that a kubelet made. */
  readonly attempt: number;
  readonly state: ContainerRunState;
  readonly createdAtNs: bigint;
  /** Milliseconds since the epoch; undefined when it never started. */
  readonly startedAtMs: number | undefined;
  /** Milliseconds since the epoch; undefined while it has not ended. */
  readonly finishedAtMs: number | undefined;
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
  /** The image as the pod named it. */
  readonly image: string;
  readonly imageRef: string;
  readonly imageId: string;
  /** Annotation io.kubernetes.container.hash; empty when absent. */
  readonly hash: string;
  /** Annotation io.kubernetes.container.restartCount; 0 when absent or damaged. */
  readonly restartCount: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly resources: LinuxContainerResources | undefined;
  readonly user: CriContainerUser | undefined;
  readonly stopSignal: string | undefined;
  readonly logPath: string;
  /** Text for status.terminated.message, read at the look that first saw it exited (file, or the log's tail by policy). */
  readonly terminationMessage: string | undefined;
}

/** One sandbox as the runtime told of it at the last look. Immutable. */
export interface ObservedSandbox {
  readonly id: string;
  readonly attempt: number;
  readonly ready: boolean;
  readonly createdAtNs: bigint;
  /** undefined when the runtime sent no network block; empty when it sent one without addresses. */
  readonly ips: readonly string[] | undefined;
  readonly networkMode: NamespaceMode;
  readonly runtimeHandler: string;
}

/** Everything the runtime has of one pod UID, from one look. Immutable; unchanged parts are shared between looks. */
export interface ObservedPod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  /** Newest attempt first, then newest creation. */
  readonly sandboxes: readonly ObservedSandbox[];
  /** Newest attempt first, then newest creation. */
  readonly containers: readonly ObservedContainer[];
  /** Monotonic milliseconds at which the look began: a look that began earlier never replaces this one. */
  readonly lookedAtMs: number;
}

/** The pod as if the runtime had nothing of it. */
export function emptyObservedPod(ref: {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly lookedAtMs: number;
}): ObservedPod {
  return { ...ref, sandboxes: [], containers: [] };
}

/** The newest instance of a container name, or undefined. */
export function newestInstance(observed: ObservedPod, containerName: string): ObservedContainer | undefined {
  return instancesOf(observed, containerName)[0];
}

/** All instances of a container name, newest first. */
export function instancesOf(observed: ObservedPod, containerName: string): readonly ObservedContainer[] {
  const { containers } = observed;
  if (containers.length <= FEW) return containers.filter(({ name }) => name === containerName);
  const known = indexes.get(containers) ?? Map.groupBy(containers, ({ name }) => name);
  indexes.set(containers, known);
  return known.get(containerName) ?? [];
}

/** A look is immutable, and is asked about every container of the pod: in a large pod searching each time would take too long. */
const indexes = new WeakMap<readonly ObservedContainer[], ReadonlyMap<string, readonly ObservedContainer[]>>();
const FEW = 16;

/** The sandbox that serves: the newest, when it is ready. */
export function servingSandbox(observed: ObservedPod): ObservedSandbox | undefined {
  const newest = observed.sandboxes[0];
  return newest?.ready ? newest : undefined;
}

/** True while any container runs or any sandbox is ready: the pod still holds the node's resources. */
export function holdsResources(observed: ObservedPod): boolean {
  return (
    observed.containers.some((container) => container.state === "running") ||
    observed.sandboxes.some((sandbox) => sandbox.ready)
  );
}
