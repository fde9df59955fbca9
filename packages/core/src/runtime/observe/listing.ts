import type { ContainerSummary, SandboxSummary } from "../../ports/runtime-types.ts";

/** Labels that every kubelet puts on what it makes; the UID is what a row is known by. */
const POD_UID = "io.kubernetes.pod.uid";
const POD_NAME = "io.kubernetes.pod.name";
const POD_NAMESPACE = "io.kubernetes.pod.namespace";
const CONTAINER_NAME = "io.kubernetes.container.name";

/** The rows of one pod UID in a listing of the runtime, ordered by id. */
export interface PodListing {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly sandboxes: readonly SandboxSummary[];
  readonly containers: readonly ContainerSummary[];
}

/** A whole listing of the runtime. */
export interface RuntimeListing {
  readonly pods: ReadonlyMap<string, PodListing>;
  /** Rows without a kubelet's labels: somebody else made them, so nothing is ever done to them. */
  readonly foreign: { readonly sandboxes: number; readonly containers: number };
}

interface MutablePodListing {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly sandboxes: SandboxSummary[];
  readonly containers: ContainerSummary[];
}

/**
 * Groups the rows of ListPodSandbox and ListContainers by pod UID. A container whose sandbox is gone still counts for its pod. Rows that lack
 * the kubelet's labels are counted as foreign and otherwise ignored. Pods come in the order in which the runtime first named them.
 */
export function groupListing(
  sandboxes: readonly SandboxSummary[],
  containers: readonly ContainerSummary[],
): RuntimeListing {
  const pods = new Map<string, MutablePodListing>();
  const foreign = { sandboxes: 0, containers: 0 };
  for (const row of sandboxes) {
    const pod = podOf(pods, row.labels);
    if (pod === undefined) foreign.sandboxes += 1;
    else pod.sandboxes.push(row);
  }
  for (const row of containers) {
    const pod = label(row.labels, CONTAINER_NAME) === undefined ? undefined : podOf(pods, row.labels);
    if (pod === undefined) foreign.containers += 1;
    else pod.containers.push(row);
  }
  for (const pod of pods.values()) {
    pod.sandboxes.sort(byId);
    pod.containers.sort(byId);
  }
  return { pods, foreign };
}

/** True when nothing that a listing shows differs: then the pod need not be inspected again. */
export function sameListing(left: PodListing, right: PodListing): boolean {
  return (
    left.sandboxes.length === right.sandboxes.length &&
    left.containers.length === right.containers.length &&
    left.sandboxes.every((row, index) => sameRow(row, right.sandboxes[index])) &&
    left.containers.every((row, index) => sameRow(row, right.containers[index]))
  );
}

interface Row {
  readonly id: string;
  readonly state: string;
}

function sameRow(left: Row, right: Row | undefined): boolean {
  return left.id === right?.id && left.state === right.state;
}

function byId(left: Row, right: Row): number {
  return left.id < right.id ? -1 : left.id > right.id ? 1 : 0;
}

function podOf(
  pods: Map<string, MutablePodListing>,
  labels: Readonly<Record<string, string>>,
): MutablePodListing | undefined {
  const uid = label(labels, POD_UID);
  const name = label(labels, POD_NAME);
  const namespace = label(labels, POD_NAMESPACE);
  if (uid === undefined || name === undefined || namespace === undefined) return undefined;
  const known = pods.get(uid);
  if (known !== undefined) return known;
  const pod: MutablePodListing = { uid, name, namespace, sandboxes: [], containers: [] };
  pods.set(uid, pod);
  return pod;
}

function label(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  return value === "" ? undefined : value;
}
