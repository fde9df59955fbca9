import { describe, expect, it } from "vitest";
import { chooseNodeIps, type NodeIpFacts } from "./node-ips.ts";

const header = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";
const ipv4Default = (name: string) => `${name}\t00000000\t0102A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n`;
const ipv4Net = "eth9\t0002A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n";
const zeros = "0".repeat(32);
const ipv6Default = (name: string) =>
  `${zeros} 00 ${zeros} 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     ${name}\n`;
const ipv6Net = `fd000000000000000000000000000000 40 ${zeros} 00 ${zeros} 00000100 00000001 00000000 00000001     eth9\n`;

const facts = (changes: Partial<NodeIpFacts> = {}): NodeIpFacts => ({
  configured: [],
  interfaces: [
    { name: "lo", address: "127.0.0.1" },
    { name: "lo", address: "::1" },
    { name: "docker0", address: "172.17.0.1" },
    { name: "eth0", address: "fe80::1" },
    { name: "eth0", address: "169.254.1.1" },
    { name: "eth0", address: "192.168.2.7" },
    { name: "eth0", address: "fd00::7" },
    { name: "eth1", address: "10.0.0.7" },
  ],
  ipv4Routes: header + ipv4Net + ipv4Default("eth0"),
  ipv6Routes: ipv6Net + ipv6Default("eth0") + ipv6Default("lo"),
  lookedUp: async () => [],
  ...changes,
});

describe("chooseNodeIps", () => {
  it.each<[string, Partial<NodeIpFacts>, string[]]>([
    ["the interface with the default route", {}, ["192.168.2.7"]],
    ["what was configured, both families", { configured: ["10.9.9.9", "fd09::9"] }, ["10.9.9.9", "fd09::9"]],
    ["IPv6 when :: was configured", { configured: ["::"] }, ["fd00::7"]],
    ["IPv4 when 0.0.0.0 was configured", { configured: ["0.0.0.0"] }, ["192.168.2.7"]],
    ["the address that the name stands for", { lookedUp: async () => ["10.0.0.7"] }, ["10.0.0.7"]],
    ["IPv4 of several", { lookedUp: async () => ["fd00::7", "10.0.0.7"] }, ["10.0.0.7"]],
    [
      "IPv6 of several when preferred",
      { configured: ["::"], lookedUp: async () => ["10.0.0.7", "fd00::7"] },
      ["fd00::7"],
    ],
    ["not a looked-up address that no interface has", { lookedUp: async () => ["203.0.113.1"] }, ["192.168.2.7"]],
    ["not a looked-up loopback", { lookedUp: async () => ["127.0.0.1", "127.0.1.1"] }, ["192.168.2.7"]],
    ["IPv6 when only that has a default route", { ipv4Routes: header + ipv4Net }, ["fd00::7"]],
    ["any interface when there is no route", { ipv4Routes: "", ipv6Routes: "" }, ["172.17.0.1"]],
    [
      "the next default route when the first has no address",
      { ipv4Routes: header + ipv4Default("tun0") + ipv4Default("eth1") },
      ["10.0.0.7"],
    ],
    ["nothing when there is nothing", { interfaces: [{ name: "lo", address: "127.0.0.1" }] }, []],
  ])("takes %s", async (_, changes, expected) => {
    expect(await chooseNodeIps(facts(changes))).toEqual(expected);
  });

  it("does not ask the resolver when addresses were configured", async () => {
    const lookedUp = () => Promise.reject(new Error("asked"));
    expect(await chooseNodeIps(facts({ configured: ["10.0.0.7"], lookedUp }))).toEqual(["10.0.0.7"]);
  });
});
