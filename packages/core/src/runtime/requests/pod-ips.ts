import { isHostNetworkPod, type Pod } from "../../api/index.ts";

/**
 * A pod's addresses as status and environment show them: the first of the node's primary family, then the first of the other
 * family. The runtime may report them in another order.
 */
export function orderPodIps(options: {
  readonly podIps: readonly string[];
  /** Node addresses, primary family first. */
  readonly nodeIps: readonly string[];
}): string[] {
  const primaryIsV6 = isV6(options.nodeIps[0] ?? "");
  const usable = options.podIps.filter((ip) => ip !== "");
  const first = usable.find((ip) => isV6(ip) === primaryIsV6);
  const second = usable.find((ip) => isV6(ip) !== primaryIsV6);
  return [first, second].filter((ip) => ip !== undefined);
}

/** The addresses a container of the pod is reached at: the node's on the host network, else the pod's own. */
export function effectivePodIps(options: {
  readonly pod: Pod;
  readonly podIps: readonly string[];
  readonly nodeIps: readonly string[];
}): string[] {
  const podIps = isHostNetworkPod(options.pod) ? options.nodeIps : options.podIps;
  return orderPodIps({ podIps, nodeIps: options.nodeIps });
}

function isV6(ip: string): boolean {
  return ip.includes(":");
}
