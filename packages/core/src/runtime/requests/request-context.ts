import type { Container, EphemeralContainer, Pod, Quantity } from "../../api/index.ts";
import type { AgentConfig } from "../../config/agent-config.ts";
import type { MachineInfo } from "../../ports/machine.ts";
import type { ServiceSummary } from "../../ports/object-source.ts";
import type { Mount, UserNamespace } from "../../ports/runtime-types.ts";
import type { ResourceRules } from "../../resources/index.ts";
import type { ContainerKind } from "../pod-plan.ts";
import type { ImageUser } from "./image-user.ts";
import type { PrefetchedObjects } from "./object-references.ts";

/** What the node adds to every request. */
export interface NodeContext {
  readonly config: AgentConfig;
  readonly machine: MachineInfo;
  /** Node allocatable: the limits that a container without limits sees in its environment. */
  readonly allocatable: { readonly [resource: string]: Quantity };
  /** SELinux enforces labels: files that the agent makes for a container are relabelled. Default false. */
  readonly selinux?: boolean;
  /** Config singleProcessOOMKill; default true on cgroup v1, which cannot kill whole containers, false on v2. */
  readonly singleProcessOomKill?: boolean;
}

/** What a sandbox and all containers in it are built from. */
export interface PodRequestContext {
  /** The desired pod, with allocated resources substituted and the agent's annotations set. */
  readonly pod: Pod;
  readonly node: NodeContext;
  /** The runtime class's handler; empty for the runtime's default. */
  readonly runtimeHandler?: string;
  /** Mapping of a pod with `hostUsers: false`; absent when the runtime cannot make user namespaces. */
  readonly userNamespace?: UserNamespace;
}

/** What `buildSandboxConfig` needs. */
export interface SandboxRequestContext extends PodRequestContext {
  readonly attempt: number;
  /** The pod's cgroup as the runtime is told it (CgroupManager.parentFor). */
  readonly cgroupParent: string;
  /** Content of the configured resolv.conf; not read when config.resolvConf is empty. */
  readonly hostResolvConf: string;
}

/** What `buildContainerConfig` needs. */
export interface ContainerRequestContext extends PodRequestContext {
  readonly container: Container | EphemeralContainer;
  readonly kind: ContainerKind;
  readonly restartCount: number;
  /** The image as pulled: what the runtime is told to run. */
  readonly imageRef: string;
  /** The user that the image's process runs as by itself (`imageUser`). */
  readonly imageUser: ImageUser;
  /** As the sandbox reports them; ignored on the host network. */
  readonly podIps: readonly string[];
  /** Fetched for `objectReferences(pod, container)`. */
  readonly objects: PrefetchedObjects;
  readonly services: readonly ServiceSummary[];
  /** Host path of the managed hosts file; absent when none was written. */
  readonly etcHostsPath?: string;
  /** Host path of this attempt's termination log; absent when none was made. */
  readonly terminationLogPath?: string;
  /** Mounts of volumes and devices, in the order of the spec. */
  readonly volumeMounts?: readonly Mount[];
  /** The container whose process namespace an ephemeral container joins. */
  readonly targetContainerId?: string;
}

/** The node's part in turning requests and limits into kernel values. */
export function resourceRules(node: NodeContext): ResourceRules {
  const { config, machine } = node;
  return {
    cpuCfsQuota: config.cpuCfsQuota,
    cpuPeriodUs: BigInt(Math.round(config.cpuCfsQuotaPeriodMs * 1000)),
    cgroupVersion: machine.cgroupVersion,
    swapAccounting: machine.swapAccounting === true,
    singleProcessOomKill: node.singleProcessOomKill ?? machine.cgroupVersion === 1,
    hugepageSizesBytes: machine.hugepageSizesBytes,
    memoryBytes: machine.memoryBytes,
  };
}
