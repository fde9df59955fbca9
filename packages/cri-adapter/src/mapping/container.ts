import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type ContainerConfig,
  type ContainerEvent,
  type ContainerMetadata,
  type ContainerSummary,
  type CriContainerState,
  type CriContainerStatus,
  type Mount,
  NodeletError,
  type SandboxConfig,
  type StringMap,
} from "@nodelet/core";
import {
  type Container,
  type ContainerConfigSchema,
  type ContainerEventResponse,
  type ContainerFilterSchema,
  type ContainerMetadata as ContainerMetadataMessage,
  type ContainerStatus,
  type CreateContainerRequest,
  CreateContainerRequestSchema,
  type Mount as MountMessage,
  type MountSchema,
} from "../gen/runtime/v1/api_pb.ts";
import {
  decodeContainerState,
  decodeEventType,
  decodePropagation,
  decodeSignal,
  encodeContainerState,
  encodePropagation,
  encodeSignal,
} from "./enums.ts";
import { decodeImageSpec, encodeImageSpec } from "./image.ts";
import { decodeResources, encodeResources } from "./resources.ts";
import { encodeSandboxConfig } from "./sandbox.ts";
import { decodeIdMappings, encodeContainerSecurity, encodeIdMappings, mutable } from "./security.ts";

/** Filter of a container list; every given part must hold. */
export interface ContainerFilter {
  readonly id?: string;
  readonly sandboxId?: string;
  readonly state?: CriContainerState;
  readonly labels?: StringMap;
}

const utf8 = new TextEncoder();

/** All that is needed to make a container. Throws `invalid` for a stop signal that CRI has no name for. */
export function encodeContainerConfig(config: ContainerConfig): MessageInitShape<typeof ContainerConfigSchema> {
  const { linux } = config;
  return {
    metadata: { name: config.metadata.name, attempt: config.metadata.attempt },
    image: encodeImageSpec(config.image),
    command: mutable(config.command),
    args: mutable(config.args),
    workingDir: config.workingDir,
    envs: config.envs?.map(({ key, value }) => ({ key, value: utf8.encode(value) })),
    mounts: config.mounts?.map(encodeMount),
    devices: config.devices?.map(({ containerPath, hostPath, permissions }) => ({
      containerPath,
      hostPath,
      permissions,
    })),
    labels: config.labels,
    annotations: config.annotations,
    logPath: config.logPath,
    stdin: config.stdin,
    stdinOnce: config.stdinOnce,
    tty: config.tty,
    linux: linux && {
      resources: linux.resources && encodeResources(linux.resources),
      securityContext: linux.securityContext && encodeContainerSecurity(linux.securityContext),
    },
    CDIDevices: config.cdiDevices?.map(({ name }) => ({ name })),
    stopSignal: config.stopSignal === undefined ? undefined : stopSignal(config.stopSignal),
  };
}

function stopSignal(name: string) {
  const signal = encodeSignal(name);
  if (signal === undefined) {
    throw new NodeletError("invalid", `stop signal ${name}: expected a signal name such as SIGTERM or SIGRTMINPLUS3`);
  }
  return signal;
}

function encodeMount(mount: Mount): MessageInitShape<typeof MountSchema> {
  return {
    containerPath: mount.containerPath,
    hostPath: mount.hostPath,
    readonly: mount.readonly,
    selinuxRelabel: mount.selinuxRelabel,
    propagation: encodePropagation(mount.propagation),
    uidMappings: encodeIdMappings(mount.uidMappings),
    gidMappings: encodeIdMappings(mount.gidMappings),
    recursiveReadOnly: mount.recursiveReadOnly,
    image: mount.image && encodeImageSpec(mount.image),
    imageSubPath: mount.imageSubPath,
  };
}

function decodeMount(message: MountMessage): Mount {
  return {
    containerPath: message.containerPath,
    hostPath: message.hostPath,
    readonly: message.readonly,
    selinuxRelabel: message.selinuxRelabel,
    propagation: decodePropagation(message.propagation),
    uidMappings: decodeIdMappings(message.uidMappings),
    gidMappings: decodeIdMappings(message.gidMappings),
    recursiveReadOnly: message.recursiveReadOnly,
    image: message.image && decodeImageSpec(message.image),
    imageSubPath: message.imageSubPath,
  };
}

/** The request of CreateContainer. Throws `invalid` for a stop signal that CRI has no name for. */
export function createContainerRequest(request: {
  readonly sandboxId: string;
  readonly config: ContainerConfig;
  readonly sandboxConfig: SandboxConfig;
}): CreateContainerRequest {
  return create(CreateContainerRequestSchema, {
    podSandboxId: request.sandboxId,
    config: encodeContainerConfig(request.config),
    sandboxConfig: encodeSandboxConfig(request.sandboxConfig),
  });
}

/** The filter for the wire, absent when nothing is asked for. */
export function encodeContainerFilter(
  filter: ContainerFilter,
): MessageInitShape<typeof ContainerFilterSchema> | undefined {
  const { id, sandboxId, state, labels } = filter;
  if (id === undefined && sandboxId === undefined && state === undefined && labels === undefined) return undefined;
  return {
    id,
    podSandboxId: sandboxId,
    state: state === undefined ? undefined : { state: encodeContainerState(state) },
    labelSelector: labels,
  };
}

/** A row of a container list. */
export function decodeContainer(message: Container): ContainerSummary {
  return {
    id: message.id,
    sandboxId: message.podSandboxId,
    metadata: decodeMetadata(message.metadata),
    image: decodeImageSpec(message.image),
    imageRef: message.imageRef,
    imageId: message.imageId,
    state: decodeContainerState(message.state),
    createdAtNs: message.createdAt,
    labels: message.labels,
    annotations: message.annotations,
  };
}

/** The status of one container. Throws `internal` when the runtime left out what every container has. */
export function decodeContainerStatus(message: ContainerStatus): CriContainerStatus {
  if (message.id === "" || message.metadata === undefined || message.metadata.name === "" || message.createdAt === 0n) {
    throw new NodeletError(
      "internal",
      `the runtime's status of container ${message.id} lacks its id, metadata or time of creation`,
    );
  }
  const user = message.user?.linux;
  const resources = message.resources?.linux;
  return {
    id: message.id,
    metadata: decodeMetadata(message.metadata),
    state: decodeContainerState(message.state),
    createdAtNs: message.createdAt,
    startedAtNs: message.startedAt,
    finishedAtNs: message.finishedAt,
    exitCode: message.exitCode,
    image: decodeImageSpec(message.image),
    imageRef: message.imageRef,
    imageId: message.imageId,
    reason: message.reason,
    message: message.message,
    labels: message.labels,
    annotations: message.annotations,
    mounts: message.mounts.map(decodeMount),
    logPath: message.logPath,
    resources: resources && decodeResources(resources),
    user: user && { uid: user.uid, gid: user.gid, supplementalGroups: user.supplementalGroups },
    stopSignal: decodeSignal(message.stopSignal),
  };
}

/** An event of the runtime's stream; undefined for a type that this version does not know. */
export function decodeContainerEvent(message: ContainerEventResponse): ContainerEvent | undefined {
  const type = decodeEventType(message.containerEventType);
  if (type === undefined) return undefined;
  const podUid = message.podSandboxStatus?.metadata?.uid;
  return {
    containerId: message.containerId,
    type,
    createdAtNs: message.createdAt,
    podUid: podUid === "" ? undefined : podUid,
  };
}

function decodeMetadata(message: ContainerMetadataMessage | undefined): ContainerMetadata {
  return { name: message?.name ?? "", attempt: message?.attempt ?? 0 };
}
