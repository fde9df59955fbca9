import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Pod } from "../../api/index.ts";
import { DNS_LIMITS, podDns } from "./dns.ts";
import { parseResolvConf } from "./resolv-conf.ts";

const HOST = "nameserver 192.0.2.53\nsearch corp.example lab.example\noptions timeout:1\n";
const CLUSTER = { clusterDns: ["10.96.0.10"], clusterDomain: "cluster.local", resolvConf: "/etc/resolv.conf" };

function dns(
  spec: Partial<NonNullable<Pod["spec"]>>,
  options: { config?: Partial<typeof CLUSTER>; host?: string; nodeIps?: string[] } = {},
) {
  const pod: Pod = { metadata: { name: "p", namespace: "ns", uid: "u" }, spec: { containers: [], ...spec } };
  const config = { ...CLUSTER, ...options.config };
  return podDns({ pod, config, hostResolvConf: options.host ?? HOST, nodeIps: options.nodeIps ?? ["192.0.2.2"] });
}

const clusterSearches = ["ns.svc.cluster.local", "svc.cluster.local", "cluster.local"];
const cluster = {
  servers: ["10.96.0.10"],
  searches: [...clusterSearches, "corp.example", "lab.example"],
  options: ["ndots:5"],
};
const host = { servers: ["192.0.2.53"], searches: ["corp.example", "lab.example"], options: ["timeout:1"] };

describe("by policy", () => {
  test.each([
    ["ClusterFirst", { dnsPolicy: "ClusterFirst" }, cluster],
    ["no policy is ClusterFirst", {}, cluster],
    ["ClusterFirst on the host network is Default", { dnsPolicy: "ClusterFirst", hostNetwork: true }, host],
    ["ClusterFirstWithHostNet", { dnsPolicy: "ClusterFirstWithHostNet", hostNetwork: true }, cluster],
    ["Default", { dnsPolicy: "Default" }, host],
    ["None", { dnsPolicy: "None" }, { servers: [], searches: [], options: [] }],
  ])("%s", (_, spec, expected) => {
    expect(dns(spec)).toEqual({ config: expected, decisions: [] });
  });

  test("without a cluster domain the host's searches remain", () => {
    const given = dns({}, { config: { clusterDomain: "" } });
    expect(given.config.searches).toEqual(["corp.example", "lab.example"]);
  });

  test("without cluster DNS pods fall back to the host's, and pod and node are told", () => {
    const given = dns({}, { config: { clusterDns: [] } });
    const text =
      'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.';
    expect(given.config).toEqual(host);
    expect(given.decisions.map(({ pod, event }) => [pod?.uid, event])).toEqual([
      [undefined, { type: "Warning", reason: "MissingClusterDNS", message: text }],
      ["u", { type: "Warning", reason: "MissingClusterDNS", message: `pod: "p_ns(u)". ${text}` }],
    ]);
  });

  test.each([
    ["IPv4", ["192.0.2.2"], ["127.0.0.1"]],
    ["IPv6", ["2001:db8::2"], ["::1"]],
    ["both", ["192.0.2.2", "2001:db8::2"], ["127.0.0.1", "::1"]],
    ["none known", [], ["127.0.0.1"]],
  ])("without a resolv.conf the host itself is asked: %s", (_, nodeIps, servers) => {
    const given = dns({ dnsPolicy: "Default" }, { config: { resolvConf: "" }, nodeIps });
    expect(given.config).toEqual({ servers, searches: ["."], options: [] });
  });
});

test("dnsConfig adds what is new and overrides options by name", () => {
  const given = dns({
    dnsConfig: {
      nameservers: ["10.96.0.10", "192.0.2.9"],
      searches: ["corp.example", "x.test"],
      options: [{ name: "ndots", value: "2" }, { name: "edns0" }],
    },
  });
  expect(given.config).toEqual({
    servers: ["10.96.0.10", "192.0.2.9"],
    searches: [...clusterSearches, "corp.example", "lab.example", "x.test"],
    options: ["ndots:2", "edns0"],
  });
});

describe("limits", () => {
  const none = (dnsConfig: NonNullable<Pod["spec"]>["dnsConfig"]) => dns({ dnsPolicy: "None", dnsConfig: dnsConfig! });
  const domains = (count: number, length: number) =>
    Array.from({ length: count }, (_, index) => String(index).padStart(length, "d"));

  test("three nameservers", () => {
    const given = none({ nameservers: ["a", "b", "c", "d"] });
    expect(given.config.servers).toEqual(["a", "b", "c"]);
    expect(given.decisions.map(({ event }) => event)).toEqual([
      {
        type: "Warning",
        reason: "DNSConfigForming",
        message:
          "Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: a b c",
      },
    ]);
    expect(none({ nameservers: ["a", "b", "c"] }).decisions).toEqual([]);
  });

  test("32 search domains", () => {
    const given = none({ searches: domains(33, 3) });
    expect(given.config.searches).toEqual(domains(32, 3));
    expect(given.decisions[0]?.event?.message).toBe(
      `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${domains(32, 3).join(" ")}`,
    );
    expect(none({ searches: domains(32, 3) }).decisions).toEqual([]);
  });

  test("a line of 2048 characters, separators included", () => {
    // 31 domains of 65 characters and 30 separators are 2045: two more characters fit, a separator and two do not.
    const base = domains(31, 65);
    expect(none({ searches: [...base, "xy"] }).decisions).toEqual([]);
    const given = none({ searches: [...base, "xyz"] });
    expect(given.config.searches).toEqual(base);
    expect(given.decisions).toHaveLength(1);
  });

  test("no domain beyond 253 characters", () => {
    const given = none({ searches: ["a", "b".repeat(254), "c".repeat(253)] });
    expect(given.config.searches).toEqual(["a", "c".repeat(253)]);
    expect(given.decisions).toHaveLength(1);
  });

  test("hold whatever is asked for", () => {
    const searches = fc.array(fc.string({ unit: fc.constantFrom("a", "."), minLength: 1, maxLength: 300 }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(searches, (asked) => {
        const kept = none({ searches: asked }).config.searches ?? [];
        expect(kept.length).toBeLessThanOrEqual(DNS_LIMITS.searches);
        expect(kept.join(" ").length).toBeLessThanOrEqual(DNS_LIMITS.searchLineChars);
        expect(kept.every((domain) => domain.length <= DNS_LIMITS.domainChars)).toBe(true);
      }),
    );
  });
});

describe("resolv.conf", () => {
  test("comments, odd spacing, repeated lines", () => {
    const text = `# nameserver 192.0.2.1
      ; other
nameserver   192.0.2.2  trailing
nameserver\t2001:db8::1
search a.example
search b.example. c.example .
options ndots:2
options timeout:3 rotate
domain ignored.example
`;
    expect(parseResolvConf(text)).toEqual({
      servers: ["192.0.2.2", "2001:db8::1"],
      searches: ["b.example", "c.example", "."],
      options: ["timeout:3", "rotate"],
    });
  });

  test("a nameserver line without an address is a fault", () => {
    expect(() => parseResolvConf("nameserver\n")).toThrow("nameserver list is empty");
  });

  test("an empty file is empty", () => {
    expect(parseResolvConf("")).toEqual({ servers: [], searches: [], options: [] });
  });
});
