import type { CgroupResources, ContainerConfig, LinuxContainerResources, ResourceRequirements } from "@nodelet/core";
import { type SimulatedNode, type SimulatedNodeOptions } from "@nodelet/testkit";
import { describe, expect, it } from "vitest";
import {
  callNames,
  eventsOf,
  IMAGE,
  MINUTE,
  newNode,
  podOf,
  SECOND,
  statusOf,
  untilPhase,
} from "./cases.test-support.ts";

async function running(resources: ResourceRequirements, options: SimulatedNodeOptions = {}): Promise<SimulatedNode> {
  const node = newNode(options);
  node.pods.apply(podOf("web", { containers: [{ name: "c", image: IMAGE, command: ["server"], resources }] }));
  await untilPhase(node, "web", "Running");
  return node;
}

/** Resources of the last container of that name that was made. */
function asked(node: SimulatedNode, name = "c"): LinuxContainerResources {
  const configs = node.runtime.calls
    .filter(({ call }) => call === "createContainer")
    .map(({ request }) => (request as { readonly config: ContainerConfig }).config);
  return configs.findLast(({ metadata }) => metadata.name === name)?.linux?.resources ?? {};
}

/** Limits of the only pod's cgroup. */
function podLimits(node: SimulatedNode): CgroupResources | undefined {
  const path = node.cgroups.paths().find((candidate) => /\/pod[0-9a-f-]+$/.test(candidate)) ?? "";
  return node.cgroups.limits(path.split("/").slice(1));
}

describe("K16 very small CPU values", () => {
  it("are 2 shares and 1000 us, the least that the kernel takes; nothing is sent again because of them", async () => {
    const node = await running({ requests: { cpu: "1m" }, limits: { cpu: "5m" } });
    expect(asked(node)).toMatchObject({ cpuShares: 2n, cpuQuota: 1000n, cpuPeriod: 100_000n });
    expect(podLimits(node)).toMatchObject({ cpuShares: 2n, cpuQuota: 1000n });
    // Reading 2 shares and 1000 us back is no difference from what was asked for.
    expect(statusOf(node, "web").containerStatuses?.[0]?.resources).toEqual({
      requests: { cpu: "1m" },
      limits: { cpu: "5m" },
    });
    node.runtime.clearCalls();
    await node.clock.advance(2 * MINUTE);
    expect(callNames(node)).toEqual([]);
  });
});

describe("K17 very large CPU requests", () => {
  it("are held to 262144 shares in the container and in the pod's cgroup", async () => {
    const node = await running({ requests: { cpu: "300" } }, { machine: { cpuCores: 512 } });
    expect(asked(node).cpuShares).toBe(262_144n);
    expect(podLimits(node)?.cpuShares).toBe(262_144n);
    for (const path of node.cgroups.paths()) {
      expect(node.cgroups.limits(path.split("/").slice(1))?.cpuShares ?? 0n).toBeLessThanOrEqual(262_144n);
    }
  });

  it("are no change after a restart of the agent", async () => {
    const node = await running({ requests: { cpu: "300" } }, { machine: { cpuCores: 512 } });
    await node.clock.advance(SECOND);
    const before = statusOf(node, "web");
    node.runtime.clearCalls();
    node.kill();
    node.start();
    await node.clock.advance(MINUTE);
    expect(callNames(node)).toEqual([]);
    expect(statusOf(node, "web")).toEqual(before);
  });
});

describe("K19 milli and fractional memory", () => {
  it.each([
    ["1.6Gi", 1_717_986_919n],
    ["1G", 1_000_000_000n],
  ])("%s is whole bytes, rounded up", async (memory, bytes) => {
    const node = await running({ limits: { memory } });
    expect(asked(node).memoryLimitInBytes).toBe(bytes);
  });

  it("a limit that the kernel rounded to whole pages is not sent again", async () => {
    const node = newNode({
      decorate: (ports) => ({
        ...ports,
        runtime: {
          ...ports.runtime,
          containerStatus: async (request) => {
            const status = await ports.runtime.containerStatus(request);
            return { ...status, resources: { ...status.resources, memoryLimitInBytes: 999_997_440n } };
          },
        },
      }),
    });
    const resources = { limits: { memory: "1G" } };
    node.pods.apply(podOf("web", { containers: [{ name: "c", image: IMAGE, command: ["server"], resources }] }));
    await untilPhase(node, "web", "Running");
    node.runtime.clearCalls();
    await node.clock.advance(2 * MINUTE);
    expect(callNames(node)).toEqual([]);
    expect(statusOf(node, "web").conditions?.map(({ type }) => type)).not.toContain("PodResizePending");
  });

  it("800m is one byte: the pod fails with an event and backs off, and nothing hangs", async () => {
    const node = newNode({
      runtime: {
        programs: [
          ({ containerName }) =>
            containerName === "tiny"
              ? { startError: "container init was OOM-killed (memory limit too low?)" }
              : undefined,
        ],
      },
    });
    const tiny = { name: "tiny", image: IMAGE, command: ["server"], resources: { limits: { memory: "800m" } } };
    node.pods.apply(podOf("web", { containers: [tiny] }));
    node.pods.apply(podOf("other"));
    await untilPhase(node, "other", "Running");
    await node.clock.advance(2 * MINUTE);
    expect(asked(node, "tiny").memoryLimitInBytes).toBe(1n);
    expect(
      eventsOf(node, "web").some((line) => line.startsWith("Failed: Error: ") && line.includes("OOM-killed")),
    ).toBe(true);
    expect(statusOf(node, "web").containerStatuses?.[0]?.state?.waiting?.reason).toBe("CrashLoopBackOff");
    const starts = node.runtime.calls.filter(
      ({ call, outcome }) => call === "startContainer" && outcome === "internal",
    );
    // At 0, at once again, and after 10, 20, 40 s.
    expect(starts.length).toBe(5);
  });
});
