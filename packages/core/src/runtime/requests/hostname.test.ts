import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Pod } from "../../api/index.ts";
import { kernelHostname, podHostname } from "./hostname.ts";

function pod(name: string, spec: Partial<NonNullable<Pod["spec"]>> = {}): Pod {
  return { metadata: { name, namespace: "ns" }, spec: { containers: [], ...spec } };
}

const hostnameOf = (given: Pod) => podHostname({ pod: given, clusterDomain: "cluster.local" });

describe("host name and domain", () => {
  test.each<[string, Pod, string, string]>([
    ["the pod's name", pod("web-1"), "web-1", ""],
    ["the name with dots", pod("web.1"), "web.1", ""],
    ["spec.hostname", pod("web-1", { hostname: "box" }), "box", ""],
    ["a subdomain", pod("web-1", { subdomain: "sub" }), "web-1", "sub.ns.svc.cluster.local"],
    [
      "hostnameOverride wins and has no domain",
      pod("web-1", { hostname: "box", subdomain: "sub", hostnameOverride: "a.b.example" }),
      "a.b.example",
      "",
    ],
    ["63 characters are kept", pod("a".repeat(63)), "a".repeat(63), ""],
    ["64 are cut", pod("a".repeat(64)), "a".repeat(63), ""],
    ["what the cut leaves at the end is trimmed", pod(`${"a".repeat(60)}-.-b`), "a".repeat(60), ""],
  ])("%s", (_, given, hostname, domain) => {
    expect(hostnameOf(given)).toEqual({ hostname, domain });
  });

  test.each<[string, Partial<NonNullable<Pod["spec"]>>, string]>([
    [
      "an upper-case hostname",
      { hostname: "Box" },
      'pod Hostname "Box" is not a valid DNS label: a lowercase RFC 1123',
    ],
    ["a dotted subdomain", { subdomain: "a.b" }, 'pod Subdomain "a.b" is not a valid DNS label'],
    ["a long hostname", { hostname: "a".repeat(64) }, "must be no more than 63 bytes"],
  ])("%s is refused", (_, spec, message) => {
    expect(() => hostnameOf(pod("p", spec))).toThrow(message);
  });

  test("whatever the name, at most 63 characters that end in neither dash nor dot", () => {
    const label = fc.stringMatching(/^[a-z0-9]([-.a-z0-9]{0,250}[a-z0-9])?$/);
    fc.assert(
      fc.property(label, (name) => {
        const { hostname } = hostnameOf(pod(name));
        expect(hostname.length).toBeLessThanOrEqual(63);
        expect(hostname).not.toMatch(/[-.]$/);
        expect(name.startsWith(hostname)).toBe(true);
      }),
    );
  });
});

describe("what the kernel is told", () => {
  const kernel = (given: Pod) => kernelHostname({ pod: given, clusterDomain: "cluster.local" });
  test.each<[string, Pod, string]>([
    ["the short name", pod("p", { subdomain: "s" }), "p"],
    ["the full name when asked", pod("p", { subdomain: "s", setHostnameAsFQDN: true }), "p.s.ns.svc.cluster.local"],
    ["without a domain there is no full name", pod("p", { setHostnameAsFQDN: true }), "p"],
  ])("%s", (_, given, expected) => {
    expect(kernel(given)).toBe(expected);
  });

  test("64 characters fit, 65 do not", () => {
    // ".s.ns.svc.cluster.local" has 23 characters.
    const spec = { subdomain: "s", setHostnameAsFQDN: true };
    expect(kernel(pod("a".repeat(41), spec))).toHaveLength(64);
    expect(() => kernel(pod("a".repeat(42), spec))).toThrow(
      `failed to construct FQDN from pod hostname and cluster domain, FQDN ${"a".repeat(42)}.s.ns.svc.cluster.local is too long (64 characters is the max, 65 characters requested)`,
    );
  });
});
