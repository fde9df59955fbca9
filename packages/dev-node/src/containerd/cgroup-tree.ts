import { readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DevNodeError, errnoOf, ignoringErrno } from "../errors.ts";

/** Errors that mean that a cgroup, or a process in it, went away while we looked. */
const goneErrors = ["ENOENT", "ENODEV", "ESRCH"];

/** Mount points of every cgroup hierarchy of the machine: one a controller on v1, one on v2, both where both are. */
export async function listCgroupMounts(): Promise<string[]> {
  const text = await readFile("/proc/self/mountinfo", "utf8");
  return text.split("\n").flatMap((line) => {
    const [before = "", after = ""] = line.split(" - ");
    const path = before.split(" ")[4];
    return path !== undefined && /^cgroup2? /.test(after) ? [path] : [];
  });
}

/** A cgroup and everything below it, deepest first; empty when it does not exist. */
export async function listCgroupTree(path: string): Promise<string[]> {
  const entries = await ignoringErrno([...goneErrors, "ENOTDIR"], () => readdir(path, { withFileTypes: true }));
  if (entries === undefined) {
    return [];
  }
  const found: string[] = [];
  for (const entry of entries) {
    if (entry.isDirectory()) {
      found.push(...(await listCgroupTree(join(path, entry.name))));
    }
  }
  return [...found, path];
}

/**
 * Kills every process in the given cgroups and below (frozen ones are thawed first, since v1 delivers no signal to
 * them), then removes the cgroups. A process is in one cgroup of each hierarchy, so all hierarchies go together.
 * Fails with a `cleanup` error when something stays for longer than five seconds.
 */
export async function removeCgroupTrees(paths: readonly string[]): Promise<void> {
  const end = performance.now() + 5_000;
  for (;;) {
    const cgroups = (await Promise.all(paths.map(listCgroupTree))).flat();
    if (cgroups.length === 0) {
      return;
    }
    await Promise.all(cgroups.map(thaw));
    await Promise.all(cgroups.map(killProcesses));
    let failed: string | undefined;
    for (const cgroup of cgroups) {
      try {
        await rmdir(cgroup);
      } catch (error) {
        failed = goneErrors.includes(errnoOf(error) ?? "") ? failed : `${cgroup}: ${errnoOf(error)}`;
      }
    }
    if (failed !== undefined && performance.now() > end) {
      throw new DevNodeError("cleanup", `cgroup cannot be removed: ${failed}`);
    }
    await sleep(failed === undefined ? 0 : 10);
  }
}

async function thaw(cgroup: string): Promise<void> {
  const thawing = [
    { file: "freezer.state", value: "THAWED" },
    { file: "cgroup.freeze", value: "0" },
  ];
  for (const { file, value } of thawing) {
    await ignoringErrno([...goneErrors, "EACCES"], () => writeFile(join(cgroup, file), value, { flag: "r+" }));
  }
}

async function killProcesses(cgroup: string): Promise<void> {
  const text = await ignoringErrno([...goneErrors, "EOPNOTSUPP"], () => readFile(join(cgroup, "cgroup.procs"), "utf8"));
  for (const pid of (text ?? "").split("\n").map(Number)) {
    if (pid > 1 && pid !== process.pid) {
      await ignoringErrno(goneErrors, async () => process.kill(pid, "SIGKILL"));
    }
  }
}

/** Removes the parents of a removed cgroup that runc makes for containers without a cgroup parent, when empty. */
export async function removeEmptyDefaultParent(containerCgroup: string): Promise<void> {
  const parent = dirname(containerCgroup);
  const isTop = (await listCgroupMounts()).includes(dirname(parent));
  if (isTop && /\/(k8s\.io|default)$/.test(parent)) {
    await ignoringErrno([...goneErrors, "EBUSY", "ENOTEMPTY"], () => rmdir(parent));
  }
}
