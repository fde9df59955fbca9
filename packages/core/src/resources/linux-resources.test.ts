import { describe, expect, test } from "vitest";
import type { Container, Pod } from "../api/index.ts";
import { containerResources, type ResourceRules, sandboxOverhead, sandboxResources } from "./linux-resources.ts";

const RULES: ResourceRules = {
  cpuCfsQuota: true,
  cpuPeriodUs: 100_000n,
  cgroupVersion: 1,
  swapAccounting: true,
  singleProcessOomKill: true,
  hugepageSizesBytes: [],
  memoryBytes: 10_737_418_240n,
};

function resources(container: Partial<Container>, options: { rules?: Partial<ResourceRules>; pod?: Pod["spec"] } = {}) {
  const whole: Container = { name: "c", ...container };
  const pod: Pod = { spec: { ...options.pod, containers: [whole] } };
  return containerResources({ pod, container: whole, rules: { ...RULES, ...options.rules } });
}

describe("CPU at the edges", () => {
  test.each([
    ["request 1m, limit 5m", { requests: { cpu: "1m" }, limits: { cpu: "5m" } }, 2n, 1000n],
    ["request 300 cores", { requests: { cpu: "300" } }, 262_144n, 0n],
    ["only a limit: it is the request too", { limits: { cpu: "250m" } }, 256n, 25_000n],
    ["a request of 0 is none", { requests: { cpu: "0" }, limits: { cpu: "250m" } }, 256n, 25_000n],
    ["nothing", {}, 2n, 0n],
  ])("%s", (_, given, cpuShares, cpuQuota) => {
    expect(resources({ resources: given })).toMatchObject({ cpuShares, cpuQuota, cpuPeriod: 100_000n });
  });

  test("without cpuCFSQuota neither quota nor period is told", () => {
    const given = resources({ resources: { limits: { cpu: "1" } } }, { rules: { cpuCfsQuota: false } });
    expect(Object.keys(given)).not.toContain("cpuQuota");
    expect(Object.keys(given)).not.toContain("cpuPeriod");
  });
});

describe("fractions of a byte are rounded up", () => {
  test.each([
    ["800m", 1n],
    ["1.6Gi", 1_717_986_919n],
    ["1G", 1_000_000_000n],
  ])("%s", (memory, bytes) => {
    expect(resources({ resources: { limits: { memory } } }).memoryLimitInBytes).toBe(bytes);
  });
});

describe("swap is closed", () => {
  const limited = { resources: { limits: { memory: "64Mi" } } };
  test.each([
    ["v1: memory plus swap is the memory limit", { cgroupVersion: 1 as const }, 67_108_864n, undefined],
    ["v1 without accounting: nothing", { cgroupVersion: 1 as const, swapAccounting: false }, undefined, undefined],
    ["v2: no swap at all", { cgroupVersion: 2 as const }, undefined, { "memory.swap.max": "0" }],
    ["v2 without accounting: nothing", { cgroupVersion: 2 as const, swapAccounting: false }, undefined, undefined],
    [
      "v2 with the group killed at once",
      { cgroupVersion: 2 as const, singleProcessOomKill: false },
      undefined,
      { "memory.oom.group": "1", "memory.swap.max": "0" },
    ],
  ])("%s", (_, rules, memorySwapLimitInBytes, unified) => {
    const given = resources(limited, { rules });
    expect(given.memorySwapLimitInBytes).toBe(memorySwapLimitInBytes);
    expect(given.unified).toEqual(unified);
  });
});

test("the pod's limits stand in for those that the container lacks", () => {
  const pod = { containers: [], resources: { limits: { cpu: "400m", memory: "200Mi" } } };
  const given = resources({ resources: { limits: { memory: "64Mi" } } }, { pod });
  expect(given).toMatchObject({ cpuShares: 409n, cpuQuota: 40_000n, memoryLimitInBytes: 67_108_864n });
});

test("a sandbox is told the pod without its overhead, and the overhead by itself", () => {
  const given = { requests: { cpu: "100m" }, limits: { cpu: "100m", memory: "32Mi" } };
  const pod: Pod = {
    spec: { containers: [{ name: "c", resources: given }], overhead: { cpu: "20m", memory: "16Mi" } },
  };
  const shares = { cpuShares: 102n, cpuPeriod: 100_000n, cpuQuota: 10_000n };
  expect(sandboxResources({ pod, rules: RULES })).toEqual({ ...shares, memoryLimitInBytes: 33_554_432n });
  const overhead = { cpuShares: 20n, cpuPeriod: 100_000n, cpuQuota: 2000n };
  expect(sandboxOverhead({ pod, rules: RULES })).toEqual({ ...overhead, memoryLimitInBytes: 16_777_216n });
  expect(sandboxOverhead({ pod: { spec: { containers: [] } }, rules: RULES })).toEqual({});
});
