import { isIP } from "node:net";
import { type AgentConfig, Amount, defaultAgentConfig, NodeletError } from "@nodelet/core";
import type { Settings } from "./settings-table.ts";

/** Features that this version asks for. Others are taken, since configurations name them, and told to have no effect. */
const GATES = new Set(["ContainerStopSignals", "EventedPLEG", "PreventStaticPodAPIReferences"]);

/** The part of the configuration that core reads, and what of it will not have the effect that was asked for. */
export interface AgentSettings {
  readonly config: AgentConfig;
  readonly warnings: readonly string[];
}

/** From settings to what core is told. Throws `invalid` for what fits no agent. `hostname` is the machine's. */
export function agentSettings(input: { readonly settings: Settings; readonly hostname: string }): AgentSettings {
  const { settings } = input;
  const warnings: string[] = [];
  const nodeName = (settings.hostnameOverride.trim() || input.hostname.trim()).toLowerCase();
  if (nodeName === "") throw new NodeletError("invalid", "the node has no name: give --hostname-override");
  if (!isNodeName(nodeName))
    throw new NodeletError(
      "invalid",
      `the node's name ${JSON.stringify(nodeName.slice(0, 300))} cannot be the end of pods' names: expected letters, digits, - and . ` +
        "(an RFC 1123 subdomain); give --hostname-override",
    );
  if (settings.cgroupDriver !== "cgroupfs") {
    const why = "the systemd driver is not built yet; use cgroupfs, and set the runtime to it as well";
    throw new NodeletError("invalid", `cgroupDriver: ${settings.cgroupDriver}: ${why}`);
  }
  if (settings.maxParallelImagePulls > 1 && settings.serializeImagePulls)
    throw new NodeletError("invalid", "maxParallelImagePulls: more than 1 needs serializeImagePulls: false");
  for (const gate of Object.keys(settings.featureGates))
    if (!GATES.has(gate)) warnings.push(`featureGates: ${gate} has no effect in this version`);
  const config: AgentConfig = {
    ...defaultAgentConfig(nodeName),
    rootDir: settings.rootDir,
    podLogsDir: settings.podLogsDir,
    syncFrequencyMs: settings.syncFrequency,
    fileCheckFrequencyMs: settings.fileCheckFrequency,
    httpCheckFrequencyMs: settings.httpCheckFrequency,
    runtimeRequestTimeoutMs: settings.runtimeRequestTimeout,
    maxPods: settings.maxPods,
    podsPerCore: settings.podsPerCore,
    podPidsLimit: settings.podPidsLimit < 0 ? -1 : settings.podPidsLimit,
    cgroupsPerQos: settings.cgroupsPerQos,
    cgroupRoot: cgroupParts(settings.cgroupRoot),
    cpuCfsQuota: settings.cpuCfsQuota,
    cpuCfsQuotaPeriodMs: settings.cpuCfsQuotaPeriod,
    clusterDns: settings.clusterDns.filter((server) => isNameServer(server, warnings)),
    clusterDomain: settings.clusterDomain,
    resolvConf: settings.resolvConf,
    hostnameOverride: settings.hostnameOverride,
    serializeImagePulls: settings.serializeImagePulls,
    maxParallelImagePulls: settings.maxParallelImagePulls === 0 ? undefined : settings.maxParallelImagePulls,
    registryPullQps: settings.registryPullQps,
    registryBurst: settings.registryBurst,
    minimumGcAgeMs: settings.minimumContainerTtl,
    maxPerPodContainerCount: settings.maximumDeadContainersPerContainer,
    maxContainerCount: settings.maximumDeadContainers,
    allowedUnsafeSysctls: settings.allowedUnsafeSysctls,
    seccompDefault: settings.seccompDefault,
    protectKernelDefaults: settings.protectKernelDefaults,
    maxContainerRestartPeriodMs: settings.maxContainerRestartPeriod,
    evictionHardMemoryBytes: memoryThreshold(settings.evictionHard, warnings),
    featureGates: settings.featureGates,
    takeOver: settings.takeOver,
  };
  return { config, warnings };
}

/** An RFC 1123 subdomain, as Kubernetes has it for names of nodes. */
function isNodeName(name: string): boolean {
  return name.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name);
}

/** Upstream drops name servers that are none, and says so. */
function isNameServer(server: string, warnings: string[]): boolean {
  if (isIP(server) !== 0) return true;
  warnings.push(`clusterDNS: ${JSON.stringify(server)} is no IP address and is left out`);
  return false;
}

function cgroupParts(root: string): string[] {
  const parts = root.split("/").filter((part) => part !== "");
  if (parts.some((part) => part === "." || part === ".."))
    throw new NodeletError("invalid", `--cgroup-root=${root}: must not hold . or ..`);
  return parts;
}

function memoryThreshold(thresholds: Settings["evictionHard"], warnings: string[]): bigint {
  let bytes = 0n;
  for (const [signal, value] of Object.entries(thresholds)) {
    if (signal === "memory.available" && !value.endsWith("%")) bytes = Amount.parse(value).value();
    else warnings.push(`evictionHard: ${signal}: ${value} has no effect in this version`);
  }
  return bytes;
}
