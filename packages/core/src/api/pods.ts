/** Questions about a pod that its own fields answer. */
import type { Container, ContainerStatus, EphemeralContainer, Pod } from "./gen/core-v1.ts";

/** Which list of the spec a container stands in. */
export type PodContainerKind = "init" | "regular" | "ephemeral";

/** A container with the list it stands in. */
export interface PodContainer {
  readonly kind: PodContainerKind;
  readonly container: Container | EphemeralContainer;
}

/** An init container that keeps running beside the regular ones (KEP-753). */
export function isSidecar(container: Container): boolean {
  return container.restartPolicy === "Always";
}

/** Every container of the pod: init containers first, then regular, then ephemeral ones, each in the spec's order. */
export function* podContainers(pod: Pod): Generator<PodContainer> {
  for (const container of pod.spec?.initContainers ?? []) yield { kind: "init", container };
  for (const container of pod.spec?.containers ?? []) yield { kind: "regular", container };
  for (const container of pod.spec?.ephemeralContainers ?? []) yield { kind: "ephemeral", container };
}

/** The container of that name, whichever list it stands in. Names are unique in a pod. */
export function findContainer(pod: Pod, name: string): PodContainer | undefined {
  for (const entry of podContainers(pod)) {
    if (entry.container.name === name) return entry;
  }
  return undefined;
}

/** The status of the container of that name, whichever list it stands in. */
export function findContainerStatus(pod: Pod, name: string): ContainerStatus | undefined {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = pod.status ?? {};
  const named = (status: ContainerStatus): boolean => status.name === name;
  return containerStatuses.find(named) ?? initContainerStatuses.find(named) ?? ephemeralContainerStatuses.find(named);
}

/** The condition of that type. */
export function findCondition<T extends { readonly type: string }>(
  conditions: readonly T[] | undefined,
  type: string,
): T | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** True when the pod shares the host's network namespace. */
export function isHostNetworkPod(pod: Pod): boolean {
  return pod.spec?.hostNetwork === true;
}

/** True for phases that a pod never leaves. */
export function isTerminalPhase(phase: string | undefined): boolean {
  return phase === "Succeeded" || phase === "Failed";
}

/** How messages and logs name a pod: `<name>_<namespace>(<uid>)`. */
export function formatPod(pod: Pod): string {
  const { name = "", namespace = "", uid = "" } = pod.metadata ?? {};
  return `${name}_${namespace}(${uid})`;
}
