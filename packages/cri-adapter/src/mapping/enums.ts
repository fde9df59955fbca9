import type {
  CriContainerState,
  CriProtocol,
  ContainerEventType as EventName,
  NamespaceMode as NamespaceName,
  MountPropagation as PropagationName,
  SandboxState,
  SecurityProfileType,
} from "@nodelet/core";
import {
  ContainerEventType,
  ContainerState,
  MountPropagation,
  NamespaceMode,
  PodSandboxState,
  Protocol,
  SecurityProfile_ProfileType,
  Signal,
  SupplementalGroupsPolicy,
} from "../gen/runtime/v1/api_pb.ts";

/**
 * Enums travel as numbers and are names in core. An absent name is the value 0, as in proto3; a number that this version
 * of the interface does not know becomes the name that promises least.
 */
type Names<T extends string> = Readonly<Record<T, number>>;

function nameOf<T extends string>(options: { names: Names<T>; value: number; unknown: T }): T {
  for (const name in options.names) {
    if (options.names[name] === options.value) return name;
  }
  return options.unknown;
}

const sandboxStates: Names<SandboxState> = PodSandboxState;
const containerStates: Names<CriContainerState> = ContainerState;
const namespaceModes: Names<NamespaceName> = NamespaceMode;
const propagations: Names<PropagationName> = MountPropagation;
const eventTypes: Names<EventName> = ContainerEventType;
const signals: Readonly<Record<string, Signal>> = Signal;

/** Number of a sandbox state. */
export const encodeSandboxState = (state: SandboxState): PodSandboxState => PodSandboxState[state];
/** Name of a sandbox state; an unknown one is not ready. */
export const decodeSandboxState = (value: number): SandboxState =>
  nameOf({ names: sandboxStates, value, unknown: "SANDBOX_NOTREADY" });

/** Number of a container state. */
export const encodeContainerState = (state: CriContainerState): ContainerState => ContainerState[state];
/** Name of a container state. */
export const decodeContainerState = (value: number): CriContainerState =>
  nameOf({ names: containerStates, value, unknown: "CONTAINER_UNKNOWN" });

/** Number of a namespace mode; POD by default. */
export const encodeNamespaceMode = (mode: NamespaceName = "POD"): NamespaceMode => NamespaceMode[mode];
/** Name of a namespace mode; an unknown one is POD, the default. */
export const decodeNamespaceMode = (value: number): NamespaceName =>
  nameOf({ names: namespaceModes, value, unknown: "POD" });

/** Number of a mount propagation; private by default. */
export const encodePropagation = (propagation: PropagationName = "PROPAGATION_PRIVATE"): MountPropagation =>
  MountPropagation[propagation];
/** Name of a mount propagation; an unknown one is private. */
export const decodePropagation = (value: number): PropagationName =>
  nameOf({ names: propagations, value, unknown: "PROPAGATION_PRIVATE" });

/** Number of a transport protocol. */
export const encodeProtocol = (protocol: CriProtocol): Protocol => Protocol[protocol];

/** Number of a security profile's kind. */
export const encodeProfileType = (type: SecurityProfileType): SecurityProfile_ProfileType =>
  SecurityProfile_ProfileType[type];

/** Number of a supplemental groups policy; Merge by default. */
export const encodeGroupsPolicy = (policy: "Merge" | "Strict" = "Merge"): SupplementalGroupsPolicy =>
  SupplementalGroupsPolicy[policy];

/** Undefined for an event that this version does not know: events are only hints. */
export const decodeEventType = (value: number): EventName | undefined => {
  const name = nameOf<EventName | "unknown">({ names: { ...eventTypes, unknown: -1 }, value, unknown: "unknown" });
  return name === "unknown" ? undefined : name;
};

/** Undefined for a name that CRI has no signal for. */
export const encodeSignal = (name: string): Signal | undefined =>
  Object.hasOwn(signals, name) ? signals[name] : undefined;

/** Undefined for the runtime's own default and for unknown signals. */
export const decodeSignal = (value: number): string | undefined =>
  value === Signal.RUNTIME_DEFAULT ? undefined : nameOf<string>({ names: signals, value, unknown: "" }) || undefined;
