/**
 * The nouns of the CRI v1 contract as core speaks them: plain immutable data, camelCase, enums as the contract's own names,
 * int64 and uint64 as bigint, timestamps in nanoseconds since the Unix epoch as bigint. Absent and proto3 default mean the same.
 */

export type SandboxState = "SANDBOX_READY" | "SANDBOX_NOTREADY";
/** State of a container as the runtime tells it. */
export type CriContainerState = "CONTAINER_CREATED" | "CONTAINER_RUNNING" | "CONTAINER_EXITED" | "CONTAINER_UNKNOWN";
/** Whose namespace is used: the pod's, the container's own, the node's, or that of a target container. */
export type NamespaceMode = "POD" | "CONTAINER" | "NODE" | "TARGET";
/** Protocol of a port mapping. */
export type CriProtocol = "TCP" | "UDP" | "SCTP";
/** How mounts travel between host and container (mount_namespaces(7)). */
export type MountPropagation = "PROPAGATION_PRIVATE" | "PROPAGATION_HOST_TO_CONTAINER" | "PROPAGATION_BIDIRECTIONAL";
/** Which seccomp or AppArmor profile holds. */
export type SecurityProfileType = "RuntimeDefault" | "Unconfined" | "Localhost";
/** Labels, annotations and the like. */
export type StringMap = Readonly<Record<string, string>>;

/** What names a sandbox; unique in the runtime together with the attempt. */
export interface SandboxMetadata {
  readonly name: string;
  readonly uid: string;
  readonly namespace: string;
  readonly attempt: number;
}

/** Content of a pod's resolv.conf. */
export interface DnsConfig {
  readonly servers?: readonly string[];
  readonly searches?: readonly string[];
  readonly options?: readonly string[];
}

/** A container port, and the host port that leads to it. */
export interface PortMapping {
  readonly protocol: CriProtocol;
  readonly containerPort: number;
  readonly hostPort?: number;
  readonly hostIp?: string;
}

/** A range of user or group ids as seen inside and outside (user_namespaces(7)). */
export interface IdMapping {
  readonly hostId: number;
  readonly containerId: number;
  readonly length: number;
}

/** User namespace of a pod (KEP-127). */
export interface UserNamespace {
  readonly mode: NamespaceMode;
  readonly uids?: readonly IdMapping[];
  readonly gids?: readonly IdMapping[];
}

/** Which namespaces a sandbox or container shares. */
export interface NamespaceOption {
  readonly network?: NamespaceMode;
  readonly pid?: NamespaceMode;
  readonly ipc?: NamespaceMode;
  readonly targetId?: string;
  readonly usernsOptions?: UserNamespace;
}

/** A seccomp or AppArmor profile; `localhostRef` names it when the type is Localhost. */
export interface SecurityProfile {
  readonly profileType: SecurityProfileType;
  readonly localhostRef?: string;
}

/** An SELinux label in its four parts. */
export interface SelinuxOption {
  readonly user?: string;
  readonly role?: string;
  readonly type?: string;
  readonly level?: string;
}

/** Security of the sandbox itself. */
export interface LinuxSandboxSecurityContext {
  readonly namespaceOptions?: NamespaceOption;
  readonly selinuxOptions?: SelinuxOption;
  readonly runAsUser?: bigint;
  readonly runAsGroup?: bigint;
  readonly readonlyRootfs?: boolean;
  readonly supplementalGroups?: readonly bigint[];
  readonly supplementalGroupsPolicy?: "Merge" | "Strict";
  readonly privileged?: boolean;
  readonly seccomp?: SecurityProfile;
  readonly apparmor?: SecurityProfile;
}

/** Limit in bytes for one page size, for example `2MB`. */
export interface HugepageLimit {
  readonly pageSize: string;
  readonly limit: bigint;
}

/** Kernel limits of a container: microseconds, shares, bytes. */
export interface LinuxContainerResources {
  readonly cpuPeriod?: bigint;
  readonly cpuQuota?: bigint;
  readonly cpuShares?: bigint;
  readonly memoryLimitInBytes?: bigint;
  readonly oomScoreAdj?: bigint;
  readonly cpusetCpus?: string;
  readonly cpusetMems?: string;
  readonly hugepageLimits?: readonly HugepageLimit[];
  readonly unified?: StringMap;
  readonly memorySwapLimitInBytes?: bigint;
}

/** The Linux part of a sandbox configuration. */
export interface LinuxSandboxConfig {
  readonly cgroupParent?: string;
  readonly securityContext?: LinuxSandboxSecurityContext;
  readonly sysctls?: StringMap;
  readonly overhead?: LinuxContainerResources;
  readonly resources?: LinuxContainerResources;
}

/** What RunPodSandbox, CreateContainer and PullImage are told of the sandbox. */
export interface SandboxConfig {
  readonly metadata: SandboxMetadata;
  readonly hostname?: string;
  readonly logDirectory?: string;
  readonly dnsConfig?: DnsConfig;
  readonly portMappings?: readonly PortMapping[];
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly linux?: LinuxSandboxConfig;
}

/** An image as the runtime is told it: a reference or an id. */
export interface ImageSpec {
  readonly image: string;
  readonly annotations?: StringMap;
  readonly userSpecifiedImage?: string;
  readonly runtimeHandler?: string;
  readonly imageRef?: string;
}

/** What names a container in its sandbox. */
export interface ContainerMetadata {
  readonly name: string;
  readonly attempt: number;
}

/** The value is bytes on the wire; core holds text and the adapter encodes it as UTF-8. */
export interface CriEnvVar {
  readonly key: string;
  readonly value: string;
}

/** A mount of a host path or an image into a container. */
export interface Mount {
  readonly containerPath: string;
  readonly hostPath?: string;
  readonly readonly?: boolean;
  readonly selinuxRelabel?: boolean;
  readonly propagation?: MountPropagation;
  readonly uidMappings?: readonly IdMapping[];
  readonly gidMappings?: readonly IdMapping[];
  readonly recursiveReadOnly?: boolean;
  readonly image?: ImageSpec;
  readonly imageSubPath?: string;
}

/** A host device in a container; permissions are cgroup letters (`rwm`). */
export interface Device {
  readonly containerPath: string;
  readonly hostPath: string;
  readonly permissions: string;
}

/** Capabilities added to and dropped from the runtime's default set (capabilities(7)). */
export interface CriCapability {
  readonly addCapabilities?: readonly string[];
  readonly dropCapabilities?: readonly string[];
  readonly addAmbientCapabilities?: readonly string[];
}

/** Security of one container. */
export interface LinuxContainerSecurityContext {
  readonly capabilities?: CriCapability;
  readonly privileged?: boolean;
  readonly namespaceOptions?: NamespaceOption;
  readonly selinuxOptions?: SelinuxOption;
  readonly runAsUser?: bigint;
  readonly runAsGroup?: bigint;
  readonly runAsUsername?: string;
  readonly readonlyRootfs?: boolean;
  readonly supplementalGroups?: readonly bigint[];
  readonly supplementalGroupsPolicy?: "Merge" | "Strict";
  readonly noNewPrivs?: boolean;
  readonly maskedPaths?: readonly string[];
  readonly readonlyPaths?: readonly string[];
  readonly seccomp?: SecurityProfile;
  readonly apparmor?: SecurityProfile;
}

/** The Linux part of a container configuration. */
export interface LinuxContainerConfig {
  readonly resources?: LinuxContainerResources;
  readonly securityContext?: LinuxContainerSecurityContext;
}

/** What CreateContainer is told. */
export interface ContainerConfig {
  readonly metadata: ContainerMetadata;
  readonly image: ImageSpec;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly workingDir?: string;
  readonly envs?: readonly CriEnvVar[];
  readonly mounts?: readonly Mount[];
  readonly devices?: readonly Device[];
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly logPath?: string;
  readonly stdin?: boolean;
  readonly stdinOnce?: boolean;
  readonly tty?: boolean;
  readonly linux?: LinuxContainerConfig;
  readonly cdiDevices?: readonly { readonly name: string }[];
  /** A Signal name of the contract, for example `SIGUSR1`. */
  readonly stopSignal?: string;
}

/** A row of ListPodSandbox. */
export interface SandboxSummary {
  readonly id: string;
  readonly metadata: SandboxMetadata;
  readonly state: SandboxState;
  readonly createdAtNs: bigint;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly runtimeHandler: string;
}

/** A sandbox in full. */
export interface SandboxStatus extends SandboxSummary {
  /** Primary IP first; empty for host network and while the network is not set up. Absent when the runtime sent no network block. */
  readonly ips?: readonly string[];
  readonly namespaceOptions?: NamespaceOption;
}

/** A row of ListContainers. */
export interface ContainerSummary {
  readonly id: string;
  readonly sandboxId: string;
  readonly metadata: ContainerMetadata;
  readonly image: ImageSpec;
  readonly imageRef: string;
  readonly imageId: string;
  readonly state: CriContainerState;
  readonly createdAtNs: bigint;
  readonly labels: StringMap;
  readonly annotations: StringMap;
}

/** The user that a container's process runs as. */
export interface CriContainerUser {
  readonly uid: bigint;
  readonly gid: bigint;
  readonly supplementalGroups: readonly bigint[];
}

/** A container in full. */
export interface CriContainerStatus {
  readonly id: string;
  readonly metadata: ContainerMetadata;
  readonly state: CriContainerState;
  readonly createdAtNs: bigint;
  /** 0n when it never started. */
  readonly startedAtNs: bigint;
  /** 0n while it runs. */
  readonly finishedAtNs: bigint;
  readonly exitCode: number;
  readonly image: ImageSpec;
  readonly imageRef: string;
  readonly imageId: string;
  readonly reason: string;
  readonly message: string;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly mounts: readonly Mount[];
  /** Absolute path of the log on the host. */
  readonly logPath: string;
  readonly resources?: LinuxContainerResources;
  readonly user?: CriContainerUser;
  readonly stopSignal?: string;
}

/** Who the runtime is. */
export interface RuntimeVersion {
  readonly runtimeName: string;
  readonly runtimeVersion: string;
  readonly runtimeApiVersion: string;
}

/** One condition of the runtime, for example `NetworkReady`. */
export interface RuntimeCondition {
  readonly type: string;
  readonly status: boolean;
  readonly reason: string;
  readonly message: string;
}

/** A runtime handler (the empty name is the default) and what it can do. */
export interface RuntimeHandler {
  readonly name: string;
  readonly recursiveReadOnlyMounts: boolean;
  readonly userNamespaces: boolean;
}

/** How the runtime is. */
export interface RuntimeStatus {
  /** `RuntimeReady` and `NetworkReady` at least. */
  readonly conditions: readonly RuntimeCondition[];
  readonly handlers: readonly RuntimeHandler[];
  readonly supplementalGroupsPolicy: boolean;
  readonly userNamespacesHostNetwork: boolean;
}

/** What a container event tells. */
export type ContainerEventType =
  | "CONTAINER_CREATED_EVENT"
  | "CONTAINER_STARTED_EVENT"
  | "CONTAINER_STOPPED_EVENT"
  | "CONTAINER_DELETED_EVENT";

/** A hint that something happened to a container or (id of) a sandbox; the pod's UID when the runtime told it. */
export interface ContainerEvent {
  readonly containerId: string;
  readonly type: ContainerEventType;
  readonly createdAtNs: bigint;
  readonly podUid?: string;
}
