import { dirname } from "node:path";
import type { CgroupResources } from "@nodelet/core";
import { errnoOf } from "@nodelet/lib-safe-fs";
import type { CgroupHierarchy, CgroupLayout } from "../layout/hierarchies.ts";
import { type LimitFile, limitFilesV1, limitFilesV2 } from "../limits/limit-files.ts";
import { makeCgroup, readCgroupFile, writeCgroupFile } from "./cgroup-files.ts";

/** Controllers that are passed down to pods' cgroups, where the kernel has them. */
const PASSED_DOWN = ["cpuset", "cpu", "io", "memory", "hugetlb", "pids"];

/** Makes the cgroup `path` (`/a/b`) in every tree, with its ancestors. */
export async function makeEverywhere(layout: CgroupLayout, path: string): Promise<void> {
  const make = layout.version === 2 ? makeDownV2 : makeDownV1;
  // The first failure is not told before all ended: nothing of this call goes on behind the caller's back.
  const outcomes = await Promise.allSettled(layout.hierarchies.map((hierarchy) => make(hierarchy, path)));
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}

/** Writes the limits that differ. Missing controllers are left out. */
export async function writeLimits(layout: CgroupLayout, path: string, resources: CgroupResources): Promise<void> {
  const files = layout.version === 2 ? limitFilesV2(resources) : limitFilesV1(resources);
  const late: (() => Promise<void>)[] = [];
  for (const limit of files) {
    const hierarchy = layout.hierarchies.find(({ controllers }) => controllers.includes(limit.controller));
    if (hierarchy === undefined) continue;
    const write = () => writeLimit(`${hierarchy.path}${path}`, limit);
    try {
      await write();
    } catch (error) {
      // Quota and period are checked together against the parent's: a new period may need its quota first.
      if (limit.file !== "cpu.cfs_period_us" || errnoOf(error) !== "EINVAL") throw error;
      late.push(write);
    }
  }
  for (const write of late) await write();
}

async function writeLimit(directory: string, limit: LimitFile): Promise<void> {
  const current = await readCgroupFile(`${directory}/${limit.file}`);
  if (current === undefined) return;
  const wanted = limit.wanted(current);
  if (wanted !== undefined) await writeCgroupFile(`${directory}/${limit.file}`, wanted);
}

/** The leaf is tried first: its ancestors are nearly always there. */
async function makeDownV1(hierarchy: CgroupHierarchy, path: string): Promise<void> {
  try {
    await makeCgroup(`${hierarchy.path}${path}`);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT" || dirname(path) === path) throw error;
    await makeDownV1(hierarchy, dirname(path));
    await makeCgroup(`${hierarchy.path}${path}`);
  }
  if (hierarchy.controllers.includes("cpuset")) await inheritCpuset(hierarchy, path);
}

/** A new cpuset of version 1 is empty, and nothing can be put into it. Top down, since an ancestor may have been left empty, too. */
async function inheritCpuset(hierarchy: CgroupHierarchy, path: string): Promise<void> {
  const own = `${hierarchy.path}${path}`;
  const missing: string[] = [];
  for (const file of ["cpuset.cpus", "cpuset.mems"]) {
    if ((await readCgroupFile(`${own}/${file}`)) === "") missing.push(file);
  }
  if (missing.length === 0 || path === "/") return;
  await inheritCpuset(hierarchy, dirname(path));
  for (const file of missing) {
    const inherited = await readCgroupFile(`${dirname(own)}/${file}`);
    if (inherited !== undefined && inherited !== "") await writeCgroupFile(`${own}/${file}`, inherited);
  }
}

async function makeDownV2(hierarchy: CgroupHierarchy, path: string): Promise<void> {
  const parts = path.split("/").filter((part) => part !== "");
  let at = hierarchy.path;
  for (const part of parts) {
    await passControllersDown(at);
    at = `${at}/${part}`;
    await makeCgroup(at);
  }
}

/** Lets the children of a cgroup have its controllers. One by one: the kernel refuses a whole line for one that it cannot pass on. */
async function passControllersDown(directory: string): Promise<void> {
  const words = async (file: string) => (await readCgroupFile(`${directory}/${file}`))?.split(" ") ?? [];
  const available = await words("cgroup.controllers");
  const passed = new Set(await words("cgroup.subtree_control"));
  for (const controller of PASSED_DOWN) {
    if (!available.includes(controller) || passed.has(controller)) continue;
    try {
      await writeCgroupFile(`${directory}/cgroup.subtree_control`, `+${controller}`);
    } catch (error) {
      // EBUSY: processes in the cgroup itself; EINVAL, EOPNOTSUPP: a threaded one. The limit of that controller is left out then.
      if (!["EBUSY", "EINVAL", "EOPNOTSUPP", "ENOENT"].includes(errnoOf(error) ?? "")) throw error;
    }
  }
}
