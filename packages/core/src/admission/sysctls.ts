import type { AdmissionHandler, AdmissionInput } from "./admission.ts";
import { reject } from "./admission.ts";

/** A sysctl that no pod can use to harm another, and the first kernel in which it belongs to the pod's own namespace. */
interface SafeSysctl {
  readonly name: string;
  readonly sinceKernel?: readonly [major: number, minor: number];
}

/** The kubelet's safe set. Everything else needs allowedUnsafeSysctls. */
const SAFE_SYSCTLS: readonly SafeSysctl[] = [
  { name: "kernel.shm_rmid_forced" },
  { name: "net.ipv4.ip_local_port_range" },
  { name: "net.ipv4.tcp_syncookies" },
  { name: "net.ipv4.ping_group_range" },
  { name: "net.ipv4.ip_unprivileged_port_start" },
  { name: "net.ipv4.ip_local_reserved_ports", sinceKernel: [3, 16] },
  { name: "net.ipv4.tcp_keepalive_time", sinceKernel: [4, 5] },
  { name: "net.ipv4.tcp_fin_timeout", sinceKernel: [4, 6] },
  { name: "net.ipv4.tcp_keepalive_intvl", sinceKernel: [4, 5] },
  { name: "net.ipv4.tcp_keepalive_probes", sinceKernel: [4, 5] },
  { name: "net.ipv4.tcp_rmem", sinceKernel: [4, 15] },
  { name: "net.ipv4.tcp_wmem", sinceKernel: [4, 15] },
];

/** Which namespace keeps a sysctl apart, by name or prefix; a pod that shares it with the host may not set it. */
const NAMESPACES: readonly { readonly prefix: string; readonly namespace: "IPC" | "Net" }[] = [
  { prefix: "kernel.sem", namespace: "IPC" },
  { prefix: "kernel.shm", namespace: "IPC" },
  { prefix: "kernel.msg", namespace: "IPC" },
  { prefix: "fs.mqueue.", namespace: "IPC" },
  { prefix: "net.", namespace: "Net" },
];

/** Refuses sysctls that are neither safe on this kernel nor allowed by the operator, and those of a namespace shared with the host. */
export const sysctlHandler: AdmissionHandler = {
  name: "sysctls",
  judge: (input) => {
    const sysctls = input.pod.spec?.securityContext?.sysctls ?? [];
    if (sysctls.length === 0) return undefined;
    const patterns = allowedPatterns(input);
    for (const sysctl of sysctls) {
      const problem = judgeSysctl({ name: withDots(sysctl.name), patterns, input });
      if (problem !== undefined) return reject("SysctlForbidden", `forbidden sysctl: ${problem}`);
    }
    return undefined;
  },
};

function allowedPatterns(input: AdmissionInput): readonly string[] {
  const [major, minor] = kernelOf(input.node.kernelVersion);
  const safe = SAFE_SYSCTLS.filter(({ sinceKernel: [sinceMajor, sinceMinor] = [0, 0] }) =>
    major === sinceMajor ? minor >= sinceMinor : major > sinceMajor,
  );
  return [...safe.map(({ name }) => name), ...input.allowedUnsafeSysctls.map(withDots)];
}

function judgeSysctl(options: {
  readonly name: string;
  readonly patterns: readonly string[];
  readonly input: AdmissionInput;
}): string | undefined {
  const { name, patterns, input } = options;
  const allowed = patterns.some((pattern) =>
    pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  );
  if (!allowed) return `"${name}" not allowlisted`;
  const namespace = NAMESPACES.find(({ prefix }) => name.startsWith(prefix))?.namespace;
  const shared =
    namespace === "IPC" ? input.pod.spec?.hostIPC : namespace === "Net" ? input.pod.spec?.hostNetwork : false;
  return shared === true ? `"${name}" not allowed with host ${namespace} enabled` : undefined;
}

/** A version that cannot be read counts as older than any. */
function kernelOf(version: string): readonly [major: number, minor: number] {
  const match = /^(\d+)\.(\d+)/.exec(version);
  return match === null ? [-1, 0] : [Number(match[1]), Number(match[2])];
}

/**
 * The dotted form of a sysctl's name. Written with slashes, dots inside a part are data (`net/ipv4/conf/eth0.100/mtu`): whichever of the two
 * comes first is the separator, as sysctl(8) has it.
 */
function withDots(name: string): string {
  const separator = /[./]/.exec(name)?.[0];
  if (separator !== "/") return name;
  return name.replace(/[./]/g, (character) => (character === "/" ? "." : "/"));
}
