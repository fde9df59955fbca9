import { type Container, type EphemeralContainer, isSidecar, type Pod } from "../../api/index.ts";
import type { ContainerKind } from "../pod-plan.ts";

/** One container of a pod's spec with the part that it plays. */
export interface RosterEntry {
  readonly name: string;
  readonly kind: ContainerKind;
  readonly container: Container | EphemeralContainer;
}

/** All containers of a pod's spec in the order of the spec: init containers with sidecars among them, regular ones, ephemeral ones. */
export interface ContainerRoster {
  readonly init: readonly RosterEntry[];
  readonly regular: readonly RosterEntry[];
  readonly ephemeral: readonly RosterEntry[];
  find(name: string): RosterEntry | undefined;
}

/** The roster of a pod. */
export function rosterOf(pod: Pod): ContainerRoster {
  const init = (pod.spec?.initContainers ?? []).map((container) =>
    entry(container, isSidecar(container) ? "sidecar" : "init"),
  );
  const regular = (pod.spec?.containers ?? []).map((container) => entry(container, "regular"));
  const ephemeral = (pod.spec?.ephemeralContainers ?? []).map((container) => entry(container, "ephemeral"));
  const byName = new Map([...ephemeral, ...regular, ...init].map((item) => [item.name, item]));
  return { init, regular, ephemeral, find: (name) => byName.get(name) };
}

function entry(container: Container | EphemeralContainer, kind: ContainerKind): RosterEntry {
  return { name: container.name, kind, container };
}
