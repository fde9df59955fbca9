import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type LinuxSandboxConfig,
  NodeletError,
  type SandboxConfig,
  type SandboxMetadata,
  type SandboxState,
  type SandboxStatus,
  type SandboxSummary,
  type StringMap,
} from "@nodelet/core";
import {
  type LinuxPodSandboxConfigSchema,
  type PodSandbox,
  type PodSandboxConfigSchema,
  type PodSandboxFilterSchema,
  type PodSandboxMetadata,
  type PodSandboxStatus,
  type RunPodSandboxRequest,
  RunPodSandboxRequestSchema,
} from "../gen/runtime/v1/api_pb.ts";
import { decodeSandboxState, encodeProtocol, encodeSandboxState } from "./enums.ts";
import { encodeResources } from "./resources.ts";
import { decodeNamespaceOption, encodeSandboxSecurity, mutable } from "./security.ts";

/** Filter of a sandbox list; every given part must hold. */
export interface SandboxFilter {
  readonly id?: string;
  readonly state?: SandboxState;
  readonly labels?: StringMap;
}

/** All that is needed to make a sandbox. */
export function encodeSandboxConfig(config: SandboxConfig): MessageInitShape<typeof PodSandboxConfigSchema> {
  const { metadata, dnsConfig } = config;
  return {
    metadata: { name: metadata.name, uid: metadata.uid, namespace: metadata.namespace, attempt: metadata.attempt },
    hostname: config.hostname,
    logDirectory: config.logDirectory,
    dnsConfig: dnsConfig && {
      servers: mutable(dnsConfig.servers),
      searches: mutable(dnsConfig.searches),
      options: mutable(dnsConfig.options),
    },
    portMappings: config.portMappings?.map((port) => ({
      protocol: encodeProtocol(port.protocol),
      containerPort: port.containerPort,
      hostPort: port.hostPort,
      hostIp: port.hostIp,
    })),
    labels: config.labels,
    annotations: config.annotations,
    linux: config.linux && encodeLinux(config.linux),
  };
}

function encodeLinux(linux: LinuxSandboxConfig): MessageInitShape<typeof LinuxPodSandboxConfigSchema> {
  return {
    cgroupParent: linux.cgroupParent,
    securityContext: linux.securityContext && encodeSandboxSecurity(linux.securityContext),
    sysctls: linux.sysctls,
    overhead: linux.overhead && encodeResources(linux.overhead),
    resources: linux.resources && encodeResources(linux.resources),
  };
}

/** The request of RunPodSandbox. */
export function runPodSandboxRequest(request: {
  readonly config: SandboxConfig;
  readonly runtimeHandler: string;
}): RunPodSandboxRequest {
  return create(RunPodSandboxRequestSchema, {
    config: encodeSandboxConfig(request.config),
    runtimeHandler: request.runtimeHandler,
  });
}

/** The filter for the wire, absent when nothing is asked for. */
export function encodeSandboxFilter(
  filter: SandboxFilter,
): MessageInitShape<typeof PodSandboxFilterSchema> | undefined {
  if (filter.id === undefined && filter.state === undefined && filter.labels === undefined) return undefined;
  return {
    id: filter.id,
    state: filter.state === undefined ? undefined : { state: encodeSandboxState(filter.state) },
    labelSelector: filter.labels,
  };
}

/** A row of a sandbox list. */
export function decodeSandbox(message: Omit<PodSandbox, "$typeName" | "$unknown">): SandboxSummary {
  return {
    id: message.id,
    metadata: decodeMetadata(message.metadata),
    state: decodeSandboxState(message.state),
    createdAtNs: message.createdAt,
    labels: message.labels,
    annotations: message.annotations,
    runtimeHandler: message.runtimeHandler,
  };
}

/** The status of one sandbox. Throws `internal` when the runtime left out what every sandbox has. */
export function decodeSandboxStatus(message: PodSandboxStatus): SandboxStatus {
  if (message.id === "" || message.metadata === undefined || message.metadata.name === "" || message.createdAt === 0n) {
    throw new NodeletError(
      "internal",
      `the runtime's status of sandbox ${message.id} lacks its id, metadata or time of creation`,
    );
  }
  const { network } = message;
  const options = message.linux?.namespaces?.options;
  return {
    ...decodeSandbox(message),
    ips: network && [network.ip, ...network.additionalIps.map(({ ip }) => ip)].filter((ip) => ip !== ""),
    namespaceOptions: options && decodeNamespaceOption(options),
  };
}

function decodeMetadata(message: PodSandboxMetadata | undefined): SandboxMetadata {
  const { name = "", uid = "", namespace = "", attempt = 0 } = message ?? {};
  return { name, uid, namespace, attempt };
}
