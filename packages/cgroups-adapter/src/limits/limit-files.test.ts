import type { CgroupResources } from "@nodelet/core";
import { describe, expect, it } from "vitest";
import { cpuWeightOfShares } from "./cpu-weight.ts";
import { limitFilesV1, limitFilesV2 } from "./limit-files.ts";

describe("cpuWeightOfShares", () => {
  // 1 + ((shares - 2) * 9999) / 262142, worked out by hand; 87 and 106 shares are requests of 85m and 104m.
  it.each([
    [0n, 1n],
    [2n, 1n],
    [87n, 4n],
    [106n, 4n],
    [1024n, 39n],
    [2000n, 77n],
    [262_144n, 10_000n],
    [300_000n, 10_000n],
  ])("%s shares have the weight %s", (shares, weight) => {
    expect(cpuWeightOfShares(shares)).toBe(weight);
  });
});

/** What is written into files that hold `now`. */
function writes(version: 1 | 2, resources: CgroupResources, now: Record<string, string>) {
  const files = version === 1 ? limitFilesV1(resources) : limitFilesV2(resources);
  return Object.fromEntries(
    files.flatMap((limit) => {
      const text = limit.wanted(now[limit.file] ?? "");
      return text === undefined ? [] : [[limit.file, text]];
    }),
  );
}

describe("version 1", () => {
  const now = {
    "cpu.shares": "1024",
    "cpu.cfs_period_us": "100000",
    "cpu.cfs_quota_us": "-1",
    "memory.limit_in_bytes": "9223372036854771712",
    "pids.max": "max",
  };
  it.each<[string, CgroupResources, Record<string, string>]>([
    ["nothing", {}, {}],
    [
      "what is there already",
      { cpuShares: 1024n, cpuPeriod: 100_000n, cpuQuota: -1n, memoryLimitBytes: -1n, pidsLimit: -1n },
      {},
    ],
    [
      "new limits",
      { cpuShares: 512n, cpuPeriod: 50_000n, cpuQuota: 25_000n, memoryLimitBytes: 67_108_864n, pidsLimit: 100n },
      {
        "cpu.shares": "512",
        "cpu.cfs_period_us": "50000",
        "cpu.cfs_quota_us": "25000",
        "memory.limit_in_bytes": "67108864",
        "pids.max": "100",
      },
    ],
    ["shares that the kernel would clamp", { cpuShares: 0n }, { "cpu.shares": "2" }],
  ])("%s", (_, resources, expected) => {
    expect(writes(1, resources, now)).toEqual(expected);
  });

  it("lifts limits, and leaves a limit alone that differs in less than a page", () => {
    const limited = { "memory.limit_in_bytes": "67108864", "pids.max": "100", "cpu.cfs_quota_us": "25000" };
    expect(writes(1, { memoryLimitBytes: -1n, pidsLimit: -1n, cpuQuota: -1n }, limited)).toEqual({
      "memory.limit_in_bytes": "-1",
      "pids.max": "max",
      "cpu.cfs_quota_us": "-1",
    });
    expect(writes(1, { memoryLimitBytes: 67_108_865n }, limited)).toEqual({});
    expect(writes(1, { memoryLimitBytes: 67_112_960n }, limited)).toEqual({ "memory.limit_in_bytes": "67112960" });
  });
});

describe("version 2", () => {
  const now = { "cpu.weight": "39", "cpu.max": "max 100000", "memory.max": "max", "pids.max": "max" };
  it.each<[string, CgroupResources, Record<string, string>]>([
    [
      "what is there already",
      { cpuShares: 1024n, cpuPeriod: 100_000n, cpuQuota: -1n, memoryLimitBytes: -1n, pidsLimit: -1n },
      {},
    ],
    [
      "new limits",
      { cpuShares: 2n, cpuPeriod: 50_000n, cpuQuota: 25_000n, memoryLimitBytes: 67_108_864n, pidsLimit: 100n },
      { "cpu.weight": "1", "cpu.max": "25000 50000", "memory.max": "67108864", "pids.max": "100" },
    ],
    ["a quota alone", { cpuQuota: 25_000n }, { "cpu.max": "25000 100000" }],
    ["a period alone", { cpuPeriod: 50_000n }, { "cpu.max": "max 50000" }],
  ])("%s", (_, resources, expected) => {
    expect(writes(2, resources, now)).toEqual(expected);
  });
});
