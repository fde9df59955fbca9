import { describe, expect, test } from "vitest";
import { milliCpuToQuota, milliCpuToShares } from "./cpu.ts";

describe("shares are 1024 a core, held to 2 and 262144", () => {
  test.each([
    ["nothing asked for", 0n, 2n],
    ["1m is 1.024, below the least", 1n, 2n],
    ["2m is 2.048", 2n, 2n],
    ["3m is 3.072", 3n, 3n],
    ["51m is 52.2", 51n, 52n],
    ["100m is 102.4", 100n, 102n],
    ["one core", 1000n, 1024n],
    ["256 cores reach the most", 256_000n, 262_144n],
    ["300 cores stay at the most", 300_000n, 262_144n],
  ])("%s", (_, milliCpu, shares) => {
    expect(milliCpuToShares(milliCpu)).toBe(shares);
  });
});

describe("quota is the limit's part of the period, at least 1000 us", () => {
  test.each([
    ["no limit", 0n, 100_000n, 0n],
    ["1m would be 100", 1n, 100_000n, 1000n],
    ["5m would be 500", 5n, 100_000n, 1000n],
    ["10m is just 1000", 10n, 100_000n, 1000n],
    ["51m", 51n, 100_000n, 5100n],
    ["two and a half cores", 2500n, 100_000n, 250_000n],
    ["half a core in periods of 10 ms", 500n, 10_000n, 5000n],
  ])("%s", (_, milliCpu, periodUs, quota) => {
    expect(milliCpuToQuota({ milliCpu, periodUs })).toBe(quota);
  });
});
