import { type HostAlias, isHostNetworkPod, type Pod } from "../../api/index.ts";
import { podHostname } from "./hostname.ts";
import { orderPodIps } from "./pod-ips.ts";

/** First line of a hosts file that the agent writes; the kubelet's own words, so that either recognises the other's. */
const HEADER = "# Kubernetes-managed hosts file.\n";
const HOST_NETWORK_HEADER = "# Kubernetes-managed hosts file (host network).\n";
const LOCAL_LINES = [
  "127.0.0.1\tlocalhost\n",
  "::1\tlocalhost ip6-localhost ip6-loopback\n",
  "fe00::0\tip6-localnet\n",
  "fe00::0\tip6-mcastprefix\n",
  "fe00::1\tip6-allnodes\n",
  "fe00::2\tip6-allrouters\n",
];

/**
 * Content of a pod's /etc/hosts: the host's file on the host network, else the local names and the pod's own; then its host
 * aliases. Rewritten at every container start, since addresses may have changed.
 */
export function hostsFileContent(options: {
  readonly pod: Pod;
  /** As the sandbox reports them. */
  readonly podIps: readonly string[];
  /** Node addresses, primary family first. */
  readonly nodeIps: readonly string[];
  readonly clusterDomain: string;
  /** The host's /etc/hosts; only used on the host network. */
  readonly hostFile: string;
}): string {
  const { pod } = options;
  const aliases = aliasLines(pod.spec?.hostAliases ?? []);
  if (isHostNetworkPod(pod)) return HOST_NETWORK_HEADER + options.hostFile + aliases;
  const { hostname, domain } = podHostname(options);
  const names = domain === "" ? hostname : `${hostname}.${domain}\t${hostname}`;
  const own = orderPodIps(options).map((ip) => `${ip}\t${names}\n`);
  return HEADER + LOCAL_LINES.join("") + own.join("") + aliases;
}

function aliasLines(aliases: readonly HostAlias[]): string {
  if (aliases.length === 0) return "";
  const lines = aliases.map(({ ip, hostnames = [] }) => `${ip}\t${hostnames.join("\t")}\n`);
  return `\n# Entries added by HostAliases.\n${lines.join("")}`;
}
