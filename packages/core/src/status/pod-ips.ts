import { type HostIP, isHostNetworkPod, type PodIP, type PodStatus } from "../api/index.ts";
import { servingSandbox } from "../runtime/observed-pod.ts";
import { ipFamily } from "./ip-address.ts";
import type { StatusSnapshot } from "./status-snapshot.ts";

/** The address fields of a pod's status. */
export type PodAddresses = Pick<PodStatus, "hostIP" | "hostIPs" | "podIP" | "podIPs">;

/**
 * Host addresses are the node's: the first, and the first of the other family. Pod addresses are the serving sandbox's, the node's primary family
 * first, at most one of each family. A pod without a serving sandbox keeps what it last showed. On the host network the pod's addresses are the
 * host's; once set they stay, whatever becomes of the node's, save that a second family is added. Texts that are no addresses are passed over.
 */
export function podAddresses(snapshot: StatusSnapshot): PodAddresses {
  const hosts = onePerFamily(snapshot.nodeIps);
  const pods = isHostNetworkPod(snapshot.pod) ? hostNetworkIps(snapshot, hosts) : sandboxIps(snapshot);
  return {
    ...(hosts[0] !== undefined && { hostIP: hosts[0], hostIPs: hosts.map((ip): HostIP => ({ ip })) }),
    ...(pods[0] !== undefined && { podIP: pods[0], podIPs: pods.map((ip): PodIP => ({ ip })) }),
  };
}

function hostNetworkIps(snapshot: StatusSnapshot, hosts: readonly string[]): readonly string[] {
  const shown = previousIps(snapshot.previous);
  return shown.length === 0 ? hosts : onePerFamily([...shown, ...hosts]);
}

function sandboxIps(snapshot: StatusSnapshot): readonly string[] {
  const serving = servingSandbox(snapshot.observed);
  if (serving === undefined) {
    const shown = previousIps(snapshot.previous);
    return shown.length > 0 ? shown : ordered(snapshot, snapshot.observed.sandboxes[0]?.ips ?? []);
  }
  return ordered(snapshot, serving.ips ?? []);
}

function ordered(snapshot: StatusSnapshot, ips: readonly string[]): readonly string[] {
  const primary = snapshot.nodeIps.map(ipFamily).find((family) => family !== undefined) ?? 4;
  const first = ips.find((ip) => ipFamily(ip) === primary);
  const second = ips.find((ip) => ipFamily(ip) === (primary === 4 ? 6 : 4));
  return [first, second].filter((ip) => ip !== undefined);
}

function previousIps(previous: PodStatus | undefined): readonly string[] {
  const ips = previous?.podIPs?.map((entry) => entry.ip) ?? (previous?.podIP === undefined ? [] : [previous.podIP]);
  return ips.filter((ip) => ipFamily(ip) !== undefined);
}

/** The first address, and the first after it of the other family. */
function onePerFamily(ips: readonly string[]): readonly string[] {
  const valid = ips.filter((ip) => ipFamily(ip) !== undefined);
  const [first] = valid;
  if (first === undefined) return [];
  const second = valid.find((ip) => ipFamily(ip) !== ipFamily(first));
  return second === undefined ? [first] : [first, second];
}
