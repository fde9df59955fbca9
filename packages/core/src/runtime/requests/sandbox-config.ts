import { int64ToBigInt, isHostNetworkPod, type Pod, podContainers } from "../../api/index.ts";
import type { Decision } from "../../decisions/decision.ts";
import type { LinuxSandboxConfig, LinuxSandboxSecurityContext, SandboxConfig } from "../../ports/runtime-types.ts";
import { sandboxOverhead, sandboxResources } from "../../resources/index.ts";
import { podDns } from "./dns.ts";
import { kernelHostname } from "./hostname.ts";
import { LABELS, podLogDirectory } from "./names.ts";
import { namespaceOptions } from "./namespaces.ts";
import { portMappings } from "./port-mappings.ts";
import { resourceRules, type SandboxRequestContext } from "./request-context.ts";
import { podGroups, selinux } from "./security-context.ts";

/** The request, and what was decided while building it; record the decisions when the request is made. */
export interface BuiltSandbox {
  readonly config: SandboxConfig;
  readonly decisions: readonly Decision[];
}

/**
 * What RunPodSandbox, CreateContainer and PullImage are told of a pod's sandbox. Pure: the same pod and attempt give the same
 * configuration, so it can be built again for a sandbox that runs. Throws `invalid` or `unsupported` with the kubelet's text.
 */
export function buildSandboxConfig(context: SandboxRequestContext): BuiltSandbox {
  const { pod, node } = context;
  const { config } = node;
  const { name = "", namespace = "", uid = "", annotations = {} } = pod.metadata ?? {};
  const dns = podDns({ pod, config, hostResolvConf: context.hostResolvConf, nodeIps: node.machine.nodeIps });
  const hostname = isHostNetworkPod(pod)
    ? {}
    : { hostname: kernelHostname({ pod, clusterDomain: config.clusterDomain }) };
  const ports = portMappings(pod);
  return {
    config: {
      metadata: { name, uid, namespace, attempt: context.attempt },
      ...hostname,
      logDirectory: podLogDirectory(config.podLogsDir, pod),
      dnsConfig: dns.config,
      ...(ports.length === 0 ? {} : { portMappings: ports }),
      labels: { ...pod.metadata?.labels, ...podLabels(pod) },
      annotations: { ...annotations },
      linux: linuxConfig(context),
    },
    decisions: dns.decisions,
  };
}

/** Labels that name the pod on its sandbox and containers. */
export function podLabels(pod: Pod): Record<string, string> {
  const { name = "", namespace = "", uid = "" } = pod.metadata ?? {};
  return { [LABELS.podName]: name, [LABELS.podNamespace]: namespace, [LABELS.podUid]: uid };
}

function linuxConfig(context: SandboxRequestContext): LinuxSandboxConfig {
  const { pod } = context;
  const rules = resourceRules(context.node);
  const sysctls = (pod.spec?.securityContext?.sysctls ?? []).map(
    ({ name, value }) => [normalSysctlName(name), value] as const,
  );
  return {
    cgroupParent: context.cgroupParent,
    securityContext: securityContext(context),
    ...(sysctls.length === 0 ? {} : { sysctls: Object.fromEntries(sysctls) }),
    overhead: sandboxOverhead({ pod, rules }),
    resources: sandboxResources({ pod, rules }),
  };
}

function securityContext(context: SandboxRequestContext): LinuxSandboxSecurityContext {
  const { pod } = context;
  const { runAsUser, runAsGroup, seLinuxOptions } = pod.spec?.securityContext ?? {};
  const privileged = [...podContainers(pod)].some(({ container }) => container.securityContext?.privileged === true);
  return {
    namespaceOptions: namespaceOptions(context),
    ...selinux(seLinuxOptions),
    ...(runAsUser === undefined ? {} : { runAsUser: int64ToBigInt(runAsUser) }),
    ...(runAsGroup === undefined ? {} : { runAsGroup: int64ToBigInt(runAsGroup) }),
    ...podGroups(pod),
    privileged,
    // The sandbox's own process needs little: the default profile holds it even where containers run unconfined.
    seccomp: { profileType: "RuntimeDefault" },
  };
}

/** A sysctl's name with dots, whichever of the two spellings of sysctl.d(5) was used. */
function normalSysctlName(name: string): string {
  const separator = /[./]/.exec(name)?.[0];
  if (separator !== "/") return name;
  return name.replace(/[./]/g, (character) => (character === "/" ? "." : "/"));
}
