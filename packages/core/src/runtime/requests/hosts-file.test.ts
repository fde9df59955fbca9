import { describe, expect, test } from "vitest";
import type { Pod } from "../../api/index.ts";
import { hostsFileContent } from "./hosts-file.ts";

const LOCAL = `# Kubernetes-managed hosts file.
127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
fe00::0\tip6-localnet
fe00::0\tip6-mcastprefix
fe00::1\tip6-allnodes
fe00::2\tip6-allrouters
`;

function content(spec: Partial<NonNullable<Pod["spec"]>>, podIps: string[] = ["10.244.0.5"]): string {
  const pod: Pod = { metadata: { name: "p", namespace: "ns" }, spec: { containers: [], ...spec } };
  const hostFile = "127.0.0.1 localhost\n192.0.2.2 n1\n";
  return hostsFileContent({ pod, podIps, nodeIps: ["192.0.2.2"], clusterDomain: "cluster.local", hostFile });
}

describe("a pod's hosts file", () => {
  test("its own name", () => {
    expect(content({})).toBe(`${LOCAL}10.244.0.5\tp\n`);
  });

  test("the full name before the short one", () => {
    expect(content({ hostname: "box", subdomain: "sub" })).toBe(
      `${LOCAL}10.244.0.5\tbox.sub.ns.svc.cluster.local\tbox\n`,
    );
  });

  test("both families, the node's first", () => {
    expect(content({}, ["fd00::7", "10.244.0.5"])).toBe(`${LOCAL}10.244.0.5\tp\nfd00::7\tp\n`);
  });

  test("host aliases", () => {
    const hostAliases = [
      { ip: "192.0.2.7", hostnames: ["foo", "bar.test"] },
      { ip: "192.0.2.8", hostnames: ["baz"] },
    ];
    expect(content({ hostAliases })).toBe(
      `${LOCAL}10.244.0.5\tp\n\n# Entries added by HostAliases.\n192.0.2.7\tfoo\tbar.test\n192.0.2.8\tbaz\n`,
    );
  });

  test("on the host network the host's own file", () => {
    const hostAliases = [{ ip: "192.0.2.7", hostnames: ["foo"] }];
    expect(content({ hostNetwork: true, hostAliases })).toBe(
      "# Kubernetes-managed hosts file (host network).\n127.0.0.1 localhost\n192.0.2.2 n1\n" +
        "\n# Entries added by HostAliases.\n192.0.2.7\tfoo\n",
    );
  });
});
