import { formatPod, isHostNetworkPod, type Pod, type PodDNSConfig } from "../../api/index.ts";
import type { AgentConfig } from "../../config/agent-config.ts";
import type { Decision, DecisionEvent } from "../../decisions/decision.ts";
import type { DnsConfig } from "../../ports/runtime-types.ts";
import { parseResolvConf, type ResolvConf } from "./resolv-conf.ts";

/** Limits of resolvers in containers (glibc and musl), as Kubernetes holds them. */
export const DNS_LIMITS = { nameservers: 3, searches: 32, searchLineChars: 2048, domainChars: 253 } as const;

const CLUSTER_OPTIONS: readonly string[] = ["ndots:5"];
const MISSING_CLUSTER_DNS =
  'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.';

/** What a pod's names are resolved by, and what had to be decided on the way (limits exceeded, no cluster DNS). */
export interface PodDns {
  readonly config: DnsConfig;
  readonly decisions: readonly Decision[];
}

/** DNS settings of a pod from its policy, the node's configuration and the host's resolv.conf. */
export function podDns(options: {
  readonly pod: Pod;
  readonly config: Pick<AgentConfig, "clusterDns" | "clusterDomain" | "resolvConf">;
  readonly hostResolvConf: string;
  /** Node addresses, primary family first. */
  readonly nodeIps: readonly string[];
}): PodDns {
  const { pod } = options;
  const decisions: Decision[] = [];
  const base = baseDns({ ...options, decisions });
  const merged = pod.spec?.dnsConfig === undefined ? base : mergeDns(base, pod.spec.dnsConfig);
  return { config: withinLimits({ pod, dns: merged, decisions }), decisions };
}

function baseDns(options: Parameters<typeof podDns>[0] & { readonly decisions: Decision[] }): ResolvConf {
  const { pod, config, decisions } = options;
  const host: ResolvConf =
    config.resolvConf === "" ? { servers: [], searches: [], options: [] } : parseResolvConf(options.hostResolvConf);
  const policy = pod.spec?.dnsPolicy ?? "ClusterFirst";
  if (policy === "None") return { servers: [], searches: [], options: [] };
  if (policy !== "Default" && (policy === "ClusterFirstWithHostNet" || !isHostNetworkPod(pod))) {
    if (config.clusterDns.length > 0) {
      return {
        servers: config.clusterDns,
        searches: clusterSearches({ pod, clusterDomain: config.clusterDomain, hostSearches: host.searches }),
        options: CLUSTER_OPTIONS,
      };
    }
    decisions.push(...missingClusterDns(pod));
  }
  return config.resolvConf === "" ? localResolver(options.nodeIps) : host;
}

function clusterSearches(options: {
  readonly pod: Pod;
  readonly clusterDomain: string;
  readonly hostSearches: readonly string[];
}): string[] {
  const { clusterDomain } = options;
  if (clusterDomain === "") return [...options.hostSearches];
  const namespace = options.pod.metadata?.namespace ?? "";
  const cluster = [`${namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain];
  return [...new Set([...cluster, ...options.hostSearches])];
}

/** Without a resolv.conf lookups go to the host itself, a resolver's default; the search domain "." keeps the runtime from adding its own. */
function localResolver(nodeIps: readonly string[]): ResolvConf {
  const servers = nodeIps.map((ip) => (ip.includes(":") ? "::1" : "127.0.0.1"));
  return { servers: servers.length === 0 ? ["127.0.0.1"] : servers, searches: ["."], options: [] };
}

function mergeDns(base: ResolvConf, extra: PodDNSConfig): ResolvConf {
  const values = new Map<string, string>();
  for (const option of base.options) {
    const colon = option.indexOf(":");
    if (colon === -1) values.set(option, "");
    else values.set(option.slice(0, colon), option.slice(colon + 1));
  }
  for (const { name = "", value = "" } of extra.options ?? []) values.set(name, value);
  return {
    servers: [...new Set([...base.servers, ...(extra.nameservers ?? [])])],
    searches: [...new Set([...base.searches, ...(extra.searches ?? [])])],
    options: [...values].map(([name, value]) => (value === "" ? name : `${name}:${value}`)),
  };
}

function withinLimits(options: {
  readonly pod: Pod;
  readonly dns: ResolvConf;
  readonly decisions: Decision[];
}): DnsConfig {
  const { pod, dns, decisions } = options;
  const servers = dns.servers.slice(0, DNS_LIMITS.nameservers);
  if (servers.length < dns.servers.length) {
    const line = servers.join(" ");
    const message = `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${line}`;
    decisions.push(formingDecision(pod, message));
  }
  const searches = searchesWithinLimits(dns.searches);
  if (searches.length < dns.searches.length) {
    const line = searches.join(" ");
    const message = `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${line}`;
    decisions.push(formingDecision(pod, message));
  }
  return { servers, searches, options: dns.options };
}

/** The first 32 domains, without those a resolver would refuse, as many as fit the line. */
function searchesWithinLimits(searches: readonly string[]): string[] {
  const kept: string[] = [];
  let chars = 0;
  for (const domain of searches.slice(0, DNS_LIMITS.searches)) {
    if (domain.length > DNS_LIMITS.domainChars) continue;
    chars += domain.length + (kept.length === 0 ? 0 : 1);
    if (chars > DNS_LIMITS.searchLineChars) break;
    kept.push(domain);
  }
  return kept;
}

function formingDecision(pod: Pod, message: string): Decision {
  return sandboxDecision({ pod, reason: "DNSConfigForming", message });
}

/** One for the pod and one for the node, whose configuration is at fault. */
function missingClusterDns(pod: Pod): Decision[] {
  const event: DecisionEvent = { type: "Warning", reason: "MissingClusterDNS", message: MISSING_CLUSTER_DNS };
  return [
    { action: "node", reason: "MissingClusterDNS", message: MISSING_CLUSTER_DNS, outcome: "failed", event },
    sandboxDecision({
      pod,
      reason: "MissingClusterDNS",
      message: `pod: "${formatPod(pod)}". ${MISSING_CLUSTER_DNS}`,
    }),
  ];
}

function sandboxDecision(options: { readonly pod: Pod; readonly reason: string; readonly message: string }): Decision {
  const { reason, message } = options;
  const { uid = "", name = "", namespace = "" } = options.pod.metadata ?? {};
  return {
    action: "sandbox",
    pod: { uid, name, namespace },
    reason,
    message,
    outcome: "ok",
    event: { type: "Warning", reason, message },
  };
}
