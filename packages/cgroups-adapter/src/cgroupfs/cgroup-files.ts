import { constants, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, rmdir, writeFile } from "node:fs/promises";
import { errnoOf } from "@nodelet/lib-safe-fs";

// What the kernel tells of cgroups it answers from memory, in a few microseconds: a thread of Node.js's pool would cost thirty times as much.
// Changes may wait for others in the kernel, so they are left to the pool.

/** Text of a cgroup's file without the line end; undefined when the cgroup or the file does not exist. */
export async function readCgroupFile(path: string): Promise<string | undefined> {
  try {
    return readFileSync(path, "utf8").trimEnd();
  } catch (error) {
    // ENODEV: the cgroup was removed while its file was open.
    if (["ENOENT", "ENODEV"].includes(errnoOf(error) ?? "")) return undefined;
    throw error;
  }
}

/** Writes a value in one system call, as the kernel wants it. Never makes a file. */
export async function writeCgroupFile(path: string, value: string): Promise<void> {
  await writeFile(path, value, { flag: constants.O_WRONLY });
}

/** Makes a cgroup; answers false when it was there. ENOENT when its parent is not. */
export async function makeCgroup(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o755 });
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** Removes an empty cgroup; answers whether it is gone (false while something is in it). */
export async function removeCgroup(path: string): Promise<boolean> {
  try {
    await rmdir(path);
    return true;
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT") return true;
    if (code === "EBUSY" || code === "ENOTEMPTY") return false;
    throw error;
  }
}

/** True when a cgroup is there. */
export async function isCgroup(path: string): Promise<boolean> {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** Names of the direct children; empty when the cgroup does not exist. */
export async function childCgroups(path: string): Promise<readonly string[]> {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch (error) {
    if (["ENOENT", "ENODEV"].includes(errnoOf(error) ?? "")) return [];
    throw error;
  }
}

/** A cgroup and all below it, deepest first: the order in which they can be removed. */
export async function cgroupTree(path: string): Promise<readonly string[]> {
  const found: string[] = [];
  const pending = (await isCgroup(path)) ? [path] : [];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    found.push(next);
    for (const name of await childCgroups(next)) pending.push(`${next}/${name}`);
  }
  return found.reverse();
}

/** Processes of one cgroup, not of those below it. 0 stands for a process that this pid namespace cannot name. */
export async function processesOf(path: string): Promise<readonly number[]> {
  const text = await readProcesses(`${path}/cgroup.procs`);
  return text === "" ? [] : text.split("\n").map(Number);
}

async function readProcesses(path: string): Promise<string> {
  try {
    return (await readCgroupFile(path)) ?? "";
  } catch (error) {
    // A threaded cgroup of version 2 does not tell processes; the one above it does.
    if (errnoOf(error) === "EOPNOTSUPP") return "";
    throw error;
  }
}
