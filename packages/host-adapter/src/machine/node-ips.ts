import { BlockList, isIP } from "node:net";

/** One address of an interface that is up. */
export interface InterfaceAddress {
  readonly name: string;
  readonly address: string;
}

/** What the node's addresses are chosen from. */
export interface NodeIpFacts {
  /** --node-ip, in order. */
  readonly configured: readonly string[];
  readonly interfaces: readonly InterfaceAddress[];
  /** Text of /proc/net/route and /proc/net/ipv6_route. */
  readonly ipv4Routes: string;
  readonly ipv6Routes: string;
  /** Addresses of the node's name; only asked for when nothing was configured. */
  readonly lookedUp: () => Promise<readonly string[]>;
}

type Family = 4 | 6;

/**
 * The node's addresses as the kubelet chooses them without a cloud: the configured ones; else the first address that the node's name stands
 * for and an interface has; else the first global unicast address of the interface with the default route; else (a machine without a
 * default route, where the kubelet gives up) that of any interface. IPv4 first unless `::` was configured. Empty when there is none.
 */
export async function chooseNodeIps(facts: NodeIpFacts): Promise<readonly string[]> {
  const given = facts.configured.filter((address) => !isUnspecified(address));
  if (given.length > 0) return given;
  const preferred: Family = facts.configured.some((address) => isIP(address) === 6) ? 6 : 4;
  const families: readonly Family[] = preferred === 6 ? [6, 4] : [4, 6];
  const own = new Set(facts.interfaces.map(({ address }) => address));
  const byName = (await facts.lookedUp()).filter((address) => isGlobalUnicast(address) && own.has(address));
  const candidates = [
    ...families.map((family) => byName.find((address) => isIP(address) === family)),
    ...families.flatMap((family) =>
      defaultInterfaces(facts, family).map((name) => firstAddress(facts.interfaces, family, name)),
    ),
    ...families.map((family) => firstAddress(facts.interfaces, family)),
  ];
  const chosen = candidates.find((address) => address !== undefined);
  return chosen === undefined ? [] : [chosen];
}

/** Names of the interfaces with a default route, in the kernel's order. */
function defaultInterfaces(facts: NodeIpFacts, family: Family): readonly string[] {
  const lines = (family === 4 ? facts.ipv4Routes : facts.ipv6Routes)
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  // Columns: Iface Destination Gateway Flags RefCnt Use Metric Mask ...
  if (family === 4) {
    return lines.flatMap(([name, destination, , , , , , mask]) =>
      name !== undefined && destination === "00000000" && mask === "00000000" ? [name] : [],
    );
  }
  // Columns: destination, its prefix length, source, its prefix length, next hop, metric, references, use, flags, device.
  return lines.flatMap(([destination, length, , , , , , , , name]) =>
    name !== undefined && name !== "lo" && destination === "0".repeat(32) && length === "00" ? [name] : [],
  );
}

function firstAddress(interfaces: readonly InterfaceAddress[], family: Family, name?: string): string | undefined {
  return interfaces.find(
    (entry) =>
      (name === undefined || entry.name === name) && isIP(entry.address) === family && isGlobalUnicast(entry.address),
  )?.address;
}

function isUnspecified(address: string): boolean {
  return address === "0.0.0.0" || address === "::";
}

const notGlobal = new BlockList();
notGlobal.addAddress("0.0.0.0");
notGlobal.addSubnet("127.0.0.0", 8);
notGlobal.addSubnet("169.254.0.0", 16);
notGlobal.addSubnet("224.0.0.0", 4);
notGlobal.addAddress("255.255.255.255");
notGlobal.addAddress("::", "ipv6");
notGlobal.addAddress("::1", "ipv6");
notGlobal.addSubnet("fe80::", 10, "ipv6");
notGlobal.addSubnet("ff00::", 8, "ipv6");

/** As Go's net.IP.IsGlobalUnicast: private ranges count as global. */
function isGlobalUnicast(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && !notGlobal.check(address, family === 6 ? "ipv6" : "ipv4");
}
