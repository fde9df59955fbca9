import type { CgroupResources } from "@nodelet/core";
import { cpuWeightOfShares } from "./cpu-weight.ts";

/** One value to be in one file of a cgroup. */
export interface LimitFile {
  /** A cgroup without this controller has no such file: the value is left out then. */
  readonly controller: string;
  readonly file: string;
  /** The text to write, given what is in the file; undefined when it is right already. */
  wanted(current: string): string | undefined;
}

const PAGE_BYTES = 4096n;
const DEFAULT_PERIOD_US = 100_000n;
const NO_LIMIT = -1n;

/** Files of version 1 for the given limits, in the order of writing. */
export function limitFilesV1(resources: CgroupResources): readonly LimitFile[] {
  const { cpuShares, cpuPeriod, cpuQuota, memoryLimitBytes, pidsLimit } = resources;
  return [
    ...exact("cpu", "cpu.shares", cpuShares === undefined ? undefined : clampShares(cpuShares)),
    ...exact("cpu", "cpu.cfs_period_us", cpuPeriod),
    ...exact("cpu", "cpu.cfs_quota_us", cpuQuota),
    ...memoryLimit("memory.limit_in_bytes", memoryLimitBytes, "-1"),
    ...pids(pidsLimit),
  ];
}

/** Files of version 2 for the given limits, in the order of writing. */
export function limitFilesV2(resources: CgroupResources): readonly LimitFile[] {
  const { cpuShares, memoryLimitBytes, pidsLimit } = resources;
  return [
    ...exact("cpu", "cpu.weight", cpuShares === undefined ? undefined : cpuWeightOfShares(cpuShares)),
    ...cpuMax(resources),
    ...memoryLimit("memory.max", memoryLimitBytes, "max"),
    ...pids(pidsLimit),
  ];
}

function exact(controller: string, file: string, value: bigint | undefined): readonly LimitFile[] {
  if (value === undefined) return [];
  const text = String(value);
  return [{ controller, file, wanted: (current) => (current === text ? undefined : text) }];
}

function clampShares(shares: bigint): bigint {
  return shares < 2n ? 2n : shares > 262_144n ? 262_144n : shares;
}

/** `<quota or max> <period>` in one file: what is not given stays as it is. */
function cpuMax(resources: CgroupResources): readonly LimitFile[] {
  const { cpuQuota, cpuPeriod } = resources;
  if (cpuQuota === undefined && cpuPeriod === undefined) return [];
  const wanted = (current: string): string | undefined => {
    const [quotaNow = "max", periodNow = String(DEFAULT_PERIOD_US)] = current.split(" ");
    const quota = cpuQuota === undefined ? quotaNow : cpuQuota === NO_LIMIT ? "max" : String(cpuQuota);
    const text = `${quota} ${cpuPeriod === undefined ? periodNow : String(cpuPeriod)}`;
    return text === current ? undefined : text;
  };
  return [{ controller: "cpu", file: "cpu.max", wanted }];
}

/** The kernel keeps whole pages: a limit that differs only in the part of a page is there already. */
function memoryLimit(file: string, bytes: bigint | undefined, unlimited: string): readonly LimitFile[] {
  if (bytes === undefined) return [];
  const pages = (value: bigint) => value / PAGE_BYTES;
  const wanted = (current: string): string | undefined => {
    if (bytes === NO_LIMIT) return isUnlimited(current) ? undefined : unlimited;
    return /^\d+$/.test(current) && pages(BigInt(current)) === pages(bytes) ? undefined : String(bytes);
  };
  return [{ controller: "memory", file, wanted }];
}

/** Version 1 shows no limit as the largest number of bytes in whole pages. */
function isUnlimited(current: string): boolean {
  return current === "max" || (/^\d+$/.test(current) && BigInt(current) >= 2n ** 63n - 65_536n);
}

function pids(limit: bigint | undefined): readonly LimitFile[] {
  if (limit === undefined) return [];
  const text = limit === NO_LIMIT ? "max" : String(limit);
  return [{ controller: "pids", file: "pids.max", wanted: (current) => (current === text ? undefined : text) }];
}
