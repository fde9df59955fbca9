import type { CriContainerState, CriContainerStatus, SandboxStatus, StringMap } from "../../ports/runtime-types.ts";
import type { ContainerRunState, ObservedContainer, ObservedPod, ObservedSandbox } from "../observed-pod.ts";

const CONTAINER_NAME_LABEL = "io.kubernetes.container.name";
const HASH_ANNOTATION = "io.kubernetes.container.hash";
const RESTART_COUNT_ANNOTATION = "io.kubernetes.container.restartCount";
const NS_PER_MS = 1_000_000n;
/** Restart counts are int32 in the API. */
const MAX_RESTART_COUNT = 2_147_483_647;

/** How core names the CRI's container states; a state that this version of the contract lacks is `unknown`. */
const RUN_STATES: Readonly<Record<CriContainerState, ContainerRunState>> = {
  CONTAINER_CREATED: "created",
  CONTAINER_RUNNING: "running",
  CONTAINER_EXITED: "exited",
  CONTAINER_UNKNOWN: "unknown",
};

/** A CRI container state in core's words. */
export function toRunState(state: CriContainerState): ContainerRunState {
  return RUN_STATES[state] ?? "unknown";
}

/** One container from its ContainerStatus. Damaged labels and annotations are read as absent; nothing here throws. */
export function toObservedContainer(source: {
  readonly status: CriContainerStatus;
  readonly sandboxId: string;
  readonly terminationMessage?: string | undefined;
}): ObservedContainer {
  const { status, sandboxId, terminationMessage } = source;
  const state = toRunState(status.state);
  return {
    id: status.id,
    sandboxId,
    name: own(status.labels, CONTAINER_NAME_LABEL) ?? status.metadata.name,
    attempt: status.metadata.attempt,
    state,
    createdAtNs: status.createdAtNs,
    startedAtMs: toMs(status.startedAtNs),
    finishedAtMs: state === "exited" ? toMs(status.finishedAtNs) : undefined,
    exitCode: status.exitCode,
    reason: status.reason,
    message: status.message,
    image: status.image.image,
    imageRef: status.imageRef,
    imageId: status.imageId,
    hash: own(status.annotations, HASH_ANNOTATION) ?? "",
    restartCount: toRestartCount(own(status.annotations, RESTART_COUNT_ANNOTATION)),
    labels: status.labels,
    annotations: status.annotations,
    resources: status.resources,
    user: status.user,
    stopSignal: status.stopSignal === "" ? undefined : status.stopSignal,
    logPath: status.logPath,
    terminationMessage: terminationMessage === "" ? undefined : terminationMessage,
  };
}

/** One sandbox from its PodSandboxStatus. */
export function toObservedSandbox(status: SandboxStatus): ObservedSandbox {
  return {
    id: status.id,
    attempt: status.metadata.attempt,
    ready: status.state === "SANDBOX_READY",
    createdAtNs: status.createdAtNs,
    // An empty primary address is a network that is not set up; addresses that are no text of an address are left out.
    ips: status.ips?.filter((ip) => ip !== ""),
    networkMode: status.namespaceOptions?.network ?? "POD",
    runtimeHandler: status.runtimeHandler,
  };
}

/**
 * One pod from its parts, in the order that planning and status rely on: sandboxes and containers by newest attempt, then newest creation, then id,
 * so that equal looks are equal. Attempts of one name only grow, while creation times follow a wall clock that may be set back: by them an instance
 * that was just started would look older than the one that it replaced.
 */
export function toObservedPod(source: {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly sandboxes: readonly ObservedSandbox[];
  readonly containers: readonly ObservedContainer[];
  readonly lookedAtMs: number;
}): ObservedPod {
  const { uid, name, namespace, lookedAtMs } = source;
  const sandboxes = [...source.sandboxes].sort(newestFirst);
  const containers = [...source.containers].sort(newestFirst);
  return { uid, name, namespace, sandboxes, containers, lookedAtMs };
}

/** The later of two looks at one pod, by when they began: a look that began earlier never replaces one that is held already. */
export function keepNewer(held: ObservedPod | undefined, next: ObservedPod): ObservedPod {
  return held !== undefined && held.lookedAtMs > next.lookedAtMs ? held : next;
}

function toMs(ns: bigint): number | undefined {
  return ns > 0n ? Number(ns / NS_PER_MS) : undefined;
}

function toRestartCount(text: string | undefined): number {
  if (text === undefined || !/^\d{1,10}$/.test(text)) return 0;
  return Math.min(Number(text), MAX_RESTART_COUNT);
}

function own(map: StringMap, key: string): string | undefined {
  const value = Object.hasOwn(map, key) ? map[key] : undefined;
  return value === "" ? undefined : value;
}

interface Instance {
  readonly id: string;
  readonly attempt: number;
  readonly createdAtNs: bigint;
}

function newestFirst(left: Instance, right: Instance): number {
  return right.attempt - left.attempt || descending(left.createdAtNs, right.createdAtNs) || byId(left, right);
}

function descending(left: bigint, right: bigint): number {
  return left === right ? 0 : left < right ? 1 : -1;
}

function byId(left: { readonly id: string }, right: { readonly id: string }): number {
  return left.id < right.id ? -1 : left.id > right.id ? 1 : 0;
}
