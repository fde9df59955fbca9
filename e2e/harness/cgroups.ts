import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { NodeUnderTest } from "./node-under-test.ts";

/** Where a tree of cgroups is mounted. */
interface CgroupTree {
  readonly path: string;
  readonly version: 1 | 2;
  /** Version 1 only. */
  readonly controllers: readonly string[];
}

/** Every tree of this machine: one on version 2, one a controller on version 1, both in the hybrid layout. */
export async function cgroupTrees(): Promise<readonly CgroupTree[]> {
  const text = await readFile("/proc/self/mountinfo", "utf8");
  return text.split("\n").flatMap((line) => {
    const [before = "", after = ""] = line.split(" - ");
    const path = before.split(" ")[4] ?? "";
    const [type, , options = ""] = after.split(" ");
    if (type !== "cgroup" && type !== "cgroup2") return [];
    return [{ path, version: type === "cgroup" ? 1 : 2, controllers: options.split(",") } as const];
  });
}

/** The limits that the kernel holds a cgroup to, named below the node's own cgroup root. */
export async function limitsOf(
  node: NodeUnderTest,
  cgroup: string,
): Promise<{ readonly memoryBytes: number; readonly cpuQuotaUs: number; readonly cpuPeriodUs: number }> {
  const trees = await cgroupTrees();
  const read = async (controller: string, file: string): Promise<string> => {
    const tree = trees.find(({ controllers }) => controllers.includes(controller)) ?? trees[0];
    return (await readFile(join(tree?.path ?? "", node.containerd.cgroupRoot, cgroup, file), "utf8")).trim();
  };
  if (trees.every(({ version }) => version === 2)) {
    const [quota, period] = (await read("cpu", "cpu.max")).split(" ");
    const memoryBytes = Number(await read("memory", "memory.max"));
    return { memoryBytes, cpuQuotaUs: Number(quota), cpuPeriodUs: Number(period) };
  }
  return {
    memoryBytes: Number(await read("memory", "memory.limit_in_bytes")),
    cpuQuotaUs: Number(await read("cpu", "cpu.cfs_quota_us")),
    cpuPeriodUs: Number(await read("cpu", "cpu.cfs_period_us")),
  };
}
