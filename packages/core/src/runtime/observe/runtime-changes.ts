import type { ContainerRunState } from "../observed-pod.ts";
import type { PodListing } from "./listing.ts";
import { toRunState } from "./observed.ts";

/** What a relist found changed about one container or sandbox of a pod. */
export type RuntimeChangeKind =
  | "ContainerStarted"
  | "ContainerDied"
  | "ContainerRemoved"
  | "ContainerChanged"
  | "SandboxChanged";

export interface RuntimeChange {
  readonly kind: RuntimeChangeKind;
  /** Container or sandbox id. */
  readonly id: string;
  /** Name of the container; undefined for a sandbox. */
  readonly containerName: string | undefined;
}

/**
 * What differs between two listings of one pod, as the kubelet's generic PLEG tells it. A container that was first seen exited died; one that
 * exited and was removed between two listings died and was removed. A created container is `ContainerChanged`, as is one whose state the runtime
 * does not know. Order: containers by id, then sandboxes by id.
 */
export function podChanges(
  previous: PodListing | undefined,
  present: PodListing | undefined,
): readonly RuntimeChange[] {
  const changes: RuntimeChange[] = [];
  const names = new Map<string, string>();
  const before = containerStates(previous, names);
  const after = containerStates(present, names);
  for (const id of [...names.keys()].sort()) {
    for (const kind of containerChange(before.get(id), after.get(id))) {
      changes.push({ kind, id, containerName: names.get(id) });
    }
  }
  const sandboxesBefore = sandboxStates(previous);
  const sandboxesAfter = sandboxStates(present);
  for (const id of [...new Set([...sandboxesBefore.keys(), ...sandboxesAfter.keys()])].sort()) {
    if (sandboxesBefore.get(id) !== sandboxesAfter.get(id)) {
      changes.push({ kind: "SandboxChanged", id, containerName: undefined });
    }
  }
  return changes;
}

/** The changes of every pod UID of either listing; pods without any are left out. */
export function listingChanges(
  previous: ReadonlyMap<string, PodListing>,
  present: ReadonlyMap<string, PodListing>,
): ReadonlyMap<string, readonly RuntimeChange[]> {
  const result = new Map<string, readonly RuntimeChange[]>();
  for (const uid of new Set([...previous.keys(), ...present.keys()])) {
    const changes = podChanges(previous.get(uid), present.get(uid));
    if (changes.length > 0) result.set(uid, changes);
  }
  return result;
}

function containerChange(
  before: ContainerRunState | undefined,
  after: ContainerRunState | undefined,
): readonly RuntimeChangeKind[] {
  if (before === after) return [];
  switch (after) {
    case "running":
      return ["ContainerStarted"];
    case "exited":
      return ["ContainerDied"];
    case "created":
    case "unknown":
      return ["ContainerChanged"];
    case undefined:
      return before === "exited" ? ["ContainerRemoved"] : ["ContainerDied", "ContainerRemoved"];
  }
}

function containerStates(listing: PodListing | undefined, names: Map<string, string>): Map<string, ContainerRunState> {
  const states = new Map<string, ContainerRunState>();
  for (const row of listing?.containers ?? []) {
    states.set(row.id, toRunState(row.state));
    names.set(row.id, row.labels["io.kubernetes.container.name"] ?? row.metadata.name);
  }
  return states;
}

function sandboxStates(listing: PodListing | undefined): Map<string, string> {
  return new Map((listing?.sandboxes ?? []).map((row) => [row.id, row.state]));
}
