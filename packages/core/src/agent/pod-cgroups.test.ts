import { InMemoryCgroups, silentLogger } from "@nodelet/testkit";
import { describe, expect, it } from "vitest";
import type { Pod } from "../api/index.ts";
import { defaultAgentConfig } from "../config/agent-config.ts";
import { NodeletError } from "../errors/nodelet-error.ts";
import { PodCgroups } from "./pod-cgroups.ts";
import { Removals } from "./removals.ts";

const { signal } = new AbortController();

function podOf(uid: string, cpu?: string): Pod {
  const resources = cpu === undefined ? {} : { requests: { cpu } };
  return {
    metadata: { uid, name: uid, namespace: "default" },
    spec: { containers: [{ name: "c", image: "i", resources }] },
  };
}

function fixture(overrides: { readonly cgroupsPerQos?: boolean } = {}) {
  const cgroups = new InMemoryCgroups();
  const config = { ...defaultAgentConfig("n1"), cgroupRoot: ["test"], ...overrides };
  return { cgroups, pods: new PodCgroups({ config, ports: { cgroups, logger: silentLogger } }) };
}

describe("cgroups of pods", () => {
  it("lie under their QoS class, whose shares follow the requests of its pods", async () => {
    const { cgroups, pods } = fixture();
    await pods.ensure({ pod: podOf("a", "500m"), signal });
    await pods.ensure({ pod: podOf("b", "250m"), signal });
    await pods.ensure({ pod: podOf("e"), signal });
    expect(cgroups.paths()).toEqual([
      "/test",
      "/test/kubepods",
      "/test/kubepods/besteffort",
      "/test/kubepods/besteffort/pode",
      "/test/kubepods/burstable",
      "/test/kubepods/burstable/poda",
      "/test/kubepods/burstable/podb",
    ]);
    // 750 milli CPU are 768 shares of 1024 a CPU; BestEffort gets the least, 2.
    expect(cgroups.limits(["test", "kubepods", "burstable"])?.cpuShares).toBe(768n);
    expect(cgroups.limits(["test", "kubepods", "besteffort"])?.cpuShares).toBe(2n);
    expect(cgroups.limits(["test", "kubepods", "burstable", "poda"])?.cpuShares).toBe(512n);
  });

  it("are made at the next try when the QoS cgroups could not be", async () => {
    const { cgroups, pods } = fixture();
    const ensure = cgroups.ensure.bind(cgroups);
    cgroups.ensure = async () => {
      throw new NodeletError("internal", "read-only file system");
    };
    await expect(pods.ensure({ pod: podOf("a", "1"), signal })).rejects.toThrow("read-only");
    cgroups.ensure = ensure;
    await pods.ensure({ pod: podOf("a", "1"), signal });
    expect(cgroups.limits(["test", "kubepods", "burstable", "poda"])?.cpuShares).toBe(1024n);
  });

  it("get the shares of all pods at last, whichever write takes longest, and give back those of pods that went", async () => {
    const { cgroups, pods } = fixture();
    const ensure = cgroups.ensure.bind(cgroups);
    const slow = Promise.withResolvers<void>();
    let writes = 0;
    cgroups.ensure = async (request) => {
      writes += 1;
      if (writes === 1) await slow.promise;
      return ensure(request);
    };
    const both = [podOf("a", "1"), podOf("b", "1")].map((pod) => pods.ensure({ pod, signal }));
    slow.resolve();
    await Promise.all(both);
    expect(cgroups.limits(["test", "kubepods", "burstable"])?.cpuShares).toBe(2048n);
    await pods.destroyUid({ podUid: "a", signal });
    await pods.removeOrphans({ inUse: () => true, removals: new Removals(), signal });
    expect(cgroups.limits(["test", "kubepods", "burstable"])?.cpuShares).toBe(1024n);
  });

  it("go with the pod, also when only its UID is known, and orphans go too", async () => {
    const { cgroups, pods } = fixture();
    const [a, b, c] = [podOf("a", "1"), podOf("b"), podOf("c")];
    for (const pod of [a, b, c]) await pods.ensure({ pod, signal });
    await pods.destroy({ pod: a, signal });
    await pods.destroyUid({ podUid: "b", signal });
    expect(cgroups.paths().filter((path) => /pod[abc]$/.test(path))).toEqual(["/test/kubepods/besteffort/podc"]);
    await pods.removeOrphans({ inUse: (uid) => uid === "c", removals: new Removals(), signal });
    expect(cgroups.paths()).toContain("/test/kubepods/besteffort/podc");
    await pods.removeOrphans({ inUse: () => false, removals: new Removals(), signal });
    expect(cgroups.paths()).not.toContain("/test/kubepods/besteffort/podc");
  });

  it("are not made with cgroupsPerQOS off, and the runtime is told no parent", async () => {
    const { cgroups, pods } = fixture({ cgroupsPerQos: false });
    await pods.ensure({ pod: podOf("a", "1"), signal });
    expect(cgroups.paths()).toEqual([]);
    expect(pods.parentOf(podOf("a", "1"))).toBeUndefined();
  });
});
