import type { NodeFacts } from "../admission/index.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import type { MachineInfo } from "../ports/machine.ts";
import type { RuntimeStatus } from "../ports/runtime-types.ts";

/** Default labels of a node (well-known labels of the API). */
function nodeLabels(config: AgentConfig, machine: MachineInfo): Readonly<Record<string, string>> {
  return {
    "kubernetes.io/hostname": config.hostnameOverride || machine.hostname,
    "kubernetes.io/os": machine.os,
    "kubernetes.io/arch": machine.architecture,
    "beta.kubernetes.io/os": machine.os,
    "beta.kubernetes.io/arch": machine.architecture,
  };
}

/** How many pods the node takes: maxPods, or fewer by podsPerCore. */
function podCapacity(config: AgentConfig, machine: MachineInfo): number {
  return config.podsPerCore > 0 ? Math.min(config.podsPerCore * machine.cpuCores, config.maxPods) : config.maxPods;
}

/** What pods may use of the node: the machine's capacity less the hard eviction threshold for memory. */
export function nodeFacts(options: {
  readonly config: AgentConfig;
  readonly machine: MachineInfo;
  readonly runtime: RuntimeStatus | undefined;
}): NodeFacts {
  const { config, machine, runtime } = options;
  const memory = machine.memoryBytes - config.evictionHardMemoryBytes;
  return {
    name: config.nodeName,
    labels: nodeLabels(config, machine),
    taints: [],
    os: machine.os,
    kernelVersion: machine.kernelVersion,
    allocatable: {
      cpu: String(machine.cpuCores),
      memory: String(memory > 0n ? memory : 0n),
      pods: String(podCapacity(config, machine)),
    },
    supplementalGroupsPolicy: runtime?.supplementalGroupsPolicy ?? false,
    userNamespaces: runtime?.handlers.some((handler) => handler.userNamespaces) ?? false,
    appArmor: machine.appArmor,
  };
}
