import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { DevNodeError, ignoringErrno } from "../errors.ts";
import { runCommand } from "../processes.ts";

/** The network of one development node's pods: a bridge of its own with a /22 of 10.213.0.0-10.216.255.255. */
export interface PodNetwork {
  /** CNI network name and bridge name at once; at most 15 bytes (IFNAMSIZ). */
  name: string;
  /** 0 to {@link subnetCount} - 1. */
  subnetIndex: number;
}

/** How many /22 networks there are to choose from. */
export const subnetCount = 256;

/** Addresses of a subnet: the bridge has the first host address, which is the pods' gateway. */
export function describeSubnet(index: number): { cidr: string; gateway: string } {
  const [second, third] = [213 + Math.floor(index / 64), (index % 64) * 4];
  return { cidr: `10.${second}.${third}.0/22`, gateway: `10.${second}.${third}.1` };
}

/** What the CNI configuration may use beyond plain bridging; both need iptables rules on the machine. */
export interface PodNetworkFeatures {
  /** Pods reach other networks under the machine's address. */
  masquerade: boolean;
  /** hostPort works. Without it a hostPort is only declared. */
  portMap: boolean;
}

/**
 * The CNI configuration list. The plain one changes nothing on the machine beyond its own bridge: we give the bridge
 * its address ourselves, since the plugin's `isGateway` would also switch on IP forwarding for the whole machine.
 */
export function renderCniConfig(options: {
  network: PodNetwork;
  ipamDir: string;
  features: PodNetworkFeatures;
}): string {
  const { network, features } = options;
  const { cidr, gateway } = describeSubnet(network.subnetIndex);
  const bridge = {
    type: "bridge",
    bridge: network.name,
    isGateway: features.masquerade,
    ipMasq: features.masquerade,
    hairpinMode: features.portMap,
    ipam: {
      type: "host-local",
      dataDir: options.ipamDir,
      ranges: [[{ subnet: cidr, gateway }]],
      routes: [{ dst: "0.0.0.0/0" }],
    },
  };
  const portMap = { type: "portmap", capabilities: { portMappings: true }, snat: true };
  const plugins = features.portMap ? [bridge, portMap] : [bridge];
  return `${JSON.stringify({ cniVersion: "0.4.0", name: network.name, plugins }, undefined, 2)}\n`;
}

/** Whether no interface and no route of the machine lies in the subnet. */
export async function isSubnetFree(busybox: string, index: number): Promise<boolean> {
  const { stdout } = await runCommand([busybox, "ip", "-4", "route", "show", "table", "all"]);
  return !overlapsRoutes({ routes: stdout, index });
}

/** Whether the subnet overlaps a destination in a listing by `ip route`. Default routes take nothing. */
export function overlapsRoutes(options: { routes: string; index: number }): boolean {
  const base = toNumber(describeSubnet(options.index).cidr.split("/")[0] ?? "");
  const destinations = options.routes.matchAll(
    /^(?:(?:local|broadcast|unicast|blackhole|unreachable|prohibit) )?(\d+\.\d+\.\d+\.\d+)(?:\/(\d+))?/gm,
  );
  return [...destinations].some(([, address = "", bits = "32"]) => {
    const sizeOfLarger = 2 ** (32 - Math.min(Number(bits), 22));
    return Math.floor(toNumber(address) / sizeOfLarger) === Math.floor(base / sizeOfLarger);
  });
}

function toNumber(address: string): number {
  return address.split(".").reduce((total, part) => total * 256 + Number(part), 0);
}

/** Creates the bridge and gives it the gateway's address. */
export async function createBridge(busybox: string, network: PodNetwork): Promise<void> {
  const { gateway } = describeSubnet(network.subnetIndex);
  await runCommand([busybox, "ip", "link", "add", "name", network.name, "type", "bridge"]);
  await runCommand([busybox, "ip", "addr", "add", `${gateway}/22`, "dev", network.name]);
  await runCommand([busybox, "ip", "link", "set", network.name, "up"]);
}

/** Deletes the bridge and the host ends of the pods' interfaces. Nothing happens when they are gone. */
export async function deleteBridge(busybox: string, name: string): Promise<void> {
  const ports = await listBridgePorts(name);
  for (const device of [...ports, name]) {
    await runCommand([busybox, "ip", "link", "del", device]).catch(async (error: unknown) => {
      if (await deviceExists(device)) {
        throw new DevNodeError("cleanup", `network device ${device} cannot be deleted`, { cause: error });
      }
    });
  }
}

/** Whether the network device exists. */
export async function deviceExists(name: string): Promise<boolean> {
  return (await ignoringErrno(["ENOENT"], () => readdir(`/sys/class/net/${name}`))) !== undefined;
}

/** Devices that hang on the bridge: one for each pod with a network of its own. */
export async function listBridgePorts(name: string): Promise<string[]> {
  return (await ignoringErrno(["ENOENT"], () => readdir(`/sys/class/net/${name}/brif`))) ?? [];
}

const cniResultsDir = "/var/lib/cni/results";

/** Files that libcni keeps for attachments to our network, or (the loopback's) for network namespaces below `stateDir`. */
export async function listCniResults(options: { network: string; stateDir: string }): Promise<string[]> {
  const found: string[] = [];
  for (const name of (await ignoringErrno(["ENOENT"], () => readdir(cniResultsDir))) ?? []) {
    const path = join(cniResultsDir, name);
    const isOurs =
      name.startsWith(`${options.network}-`) ||
      (name.startsWith("cni-loopback-") &&
        (await readFile(path, "utf8").catch(() => "")).includes(`"${options.stateDir}/`));
    if (isOurs) {
      found.push(path);
    }
  }
  return found;
}

/** Removes what {@link listCniResults} lists. */
export async function removeCniResults(options: { network: string; stateDir: string }): Promise<void> {
  for (const path of await listCniResults(options)) {
    await rm(path, { force: true });
  }
}
