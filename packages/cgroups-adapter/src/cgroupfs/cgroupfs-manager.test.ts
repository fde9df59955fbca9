import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CgroupResources } from "@nodelet/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CgroupfsManager } from "./cgroupfs-manager.ts";

// Real cgroups of this machine, only below a name of our own. Version 2 is the tree that the hybrid layout mounts beside version 1.
const own = `nodelet-test-${process.pid}`;
const v1Root = "/sys/fs/cgroup";
const v2Root = existsSync("/sys/fs/cgroup/cgroup.controllers") ? "/sys/fs/cgroup" : "/sys/fs/cgroup/unified";
const hasV1 = existsSync("/sys/fs/cgroup/memory/memory.limit_in_bytes");
const children: ChildProcess[] = [];

function startProcess(): number {
  const child = spawn("sleep", ["60"], { stdio: "ignore" });
  children.push(child);
  return child.pid ?? 0;
}

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

describe.runIf(hasV1)("version 1", () => {
  const at = (tree: string, ...parts: string[]) => [v1Root, tree, own, ...parts].join("/");
  const read = (tree: string, file: string, ...parts: string[]) =>
    readFileSync(`${at(tree, ...parts)}/${file}`, "utf8").trim();
  const pod = [own, "kubepods", "burstable", "pod1"];
  let manager: CgroupfsManager;

  beforeEach(async () => {
    manager = await CgroupfsManager.discover();
  });
  afterEach(() => manager.destroy({ name: [own] }));

  it("makes a cgroup in every tree with its limits, and changes only what differs", async () => {
    const resources: CgroupResources = {
      cpuShares: 512n,
      cpuPeriod: 100_000n,
      cpuQuota: 50_000n,
      memoryLimitBytes: 67_108_865n,
      pidsLimit: 100n,
    };
    expect(manager.capabilities).toMatchObject({ version: 1, controllers: expect.arrayContaining(["cpu", "memory"]) });
    expect(await manager.exists({ name: pod })).toBe(false);
    await manager.ensure({ name: pod, resources });
    expect(await manager.exists({ name: pod })).toBe(true);
    for (const tree of ["cpu", "cpuset", "memory", "pids", "systemd", "freezer"]) {
      expect(existsSync(at(tree, "kubepods/burstable/pod1"))).toBe(true);
    }
    const limits = () => [
      read("cpu", "cpu.shares", ...pod.slice(1)),
      read("cpu", "cpu.cfs_quota_us", ...pod.slice(1)),
      read("memory", "memory.limit_in_bytes", ...pod.slice(1)),
      read("pids", "pids.max", ...pod.slice(1)),
    ];
    expect(limits()).toEqual(["512", "50000", "67108864", "100"]);
    await manager.ensure({ name: pod, resources: { pidsLimit: -1n } });
    expect(limits()).toEqual(["512", "50000", "67108864", "max"]);
  });

  it("gives new cpusets the CPUs and memory nodes of their parents", async () => {
    await manager.ensure({ name: pod, resources: {} });
    for (const file of ["cpuset.cpus", "cpuset.mems"]) {
      const root = readFileSync(`${v1Root}/cpuset/${file}`, "utf8").trim();
      expect(read("cpuset", file, ...pod.slice(1))).toBe(root);
    }
  });

  it("does not widen a cpuset that was narrowed", async () => {
    await manager.ensure({ name: [own], resources: {} });
    writeFileSync(`${at("cpuset")}/cpuset.cpus`, "0");
    await manager.ensure({ name: [own, "other"], resources: {} });
    expect([read("cpuset", "cpuset.cpus"), read("cpuset", "cpuset.cpus", "other")]).toEqual(["0", "0"]);
  });

  it("changes quota and period together below a parent's quota", async () => {
    await manager.ensure({ name: [own], resources: { cpuPeriod: 100_000n, cpuQuota: 100_000n } });
    await manager.ensure({ name: [own, "a"], resources: { cpuPeriod: 100_000n, cpuQuota: 90_000n } });
    // A period of 10 ms with the old quota of 90 ms would be nine CPUs of the parent's one.
    await manager.ensure({ name: [own, "a"], resources: { cpuPeriod: 10_000n, cpuQuota: 5_000n } });
    expect([read("cpu", "cpu.cfs_period_us", "a"), read("cpu", "cpu.cfs_quota_us", "a")]).toEqual(["10000", "5000"]);
  });

  it("tells children of any tree, and makes whole what lacks in one", async () => {
    await manager.ensure({ name: pod, resources: {} });
    rmdirSync(at("pids", "kubepods/burstable/pod1"));
    mkdirSync(at("devices", "kubepods/burstable/stray"));
    expect([...(await manager.children({ name: pod.slice(0, 3) }))].sort()).toEqual(["pod1", "stray"]);
    expect(await manager.exists({ name: pod })).toBe(false);
    await manager.ensure({ name: pod, resources: {} });
    expect(await manager.exists({ name: pod })).toBe(true);
    expect(await manager.children({ name: [own, "none"] })).toEqual([]);
  });

  it("kills and removes everything below, twice", async () => {
    await manager.ensure({ name: pod, resources: {} });
    mkdirSync(at("memory", "kubepods/burstable/pod1/container/deep"), { recursive: true });
    const pid = startProcess();
    writeFileSync(`${at("memory", "kubepods/burstable/pod1/container/deep")}/cgroup.procs`, String(pid));
    const other = startProcess();
    writeFileSync(`${at("pids", "kubepods/burstable/pod1")}/cgroup.procs`, String(other));
    const exits = Promise.all(
      children.map((child) => new Promise((done) => child.once("exit", (_, signal) => done(signal)))),
    );
    await manager.destroy({ name: pod });
    await manager.destroy({ name: pod });
    expect(await exits).toEqual(["SIGKILL", "SIGKILL"]);
    expect(await manager.children({ name: pod.slice(0, 3) })).toEqual([]);
    expect(await manager.exists({ name: pod.slice(0, 3) })).toBe(true);
  });

  it("kills what is frozen", async () => {
    await manager.ensure({ name: pod, resources: {} });
    const pid = startProcess();
    writeFileSync(`${at("freezer", "kubepods/burstable/pod1")}/cgroup.procs`, String(pid));
    writeFileSync(`${at("freezer", "kubepods/burstable/pod1")}/freezer.state`, "FROZEN");
    await manager.destroy({ name: pod });
    expect(existsSync(at("freezer", "kubepods/burstable/pod1"))).toBe(false);
  });

  it("is cancelled", async () => {
    const signal = AbortSignal.abort();
    for (const call of [
      manager.destroy({ name: pod, signal }),
      manager.ensure({ name: pod, resources: {}, signal }),
      manager.exists({ name: pod, signal }),
      manager.children({ name: pod, signal }),
    ]) {
      await expect(call).rejects.toMatchObject({ kind: "cancelled" });
    }
  });

  it("reports what the kernel refuses", async () => {
    await expect(manager.ensure({ name: [own], resources: { cpuPeriod: 1n } })).rejects.toMatchObject({
      kind: "invalid",
    });
  });
});

describe.runIf(existsSync(v2Root))("version 2", () => {
  const pod = [own, "kubepods", "pod1"];
  const path = `${v2Root}/${own}/kubepods/pod1`;
  let manager: CgroupfsManager;

  beforeEach(async () => {
    manager = await CgroupfsManager.discover({ root: v2Root });
  });
  afterEach(() => manager.destroy({ name: [own] }));

  it("makes cgroups, passes its controllers down, and leaves out limits of others", async () => {
    const { version, controllers } = manager.capabilities;
    expect(version).toBe(2);
    const resources: CgroupResources = { cpuShares: 512n, memoryLimitBytes: 67_108_864n, pidsLimit: 100n };
    await manager.ensure({ name: pod, resources });
    await manager.ensure({ name: pod, resources });
    expect(await manager.exists({ name: pod })).toBe(true);
    expect(readFileSync(`${path}/cgroup.controllers`, "utf8").trim().split(" ").sort()).toEqual(
      ["cpuset", "cpu", "io", "memory", "hugetlb", "pids"].filter((name) => controllers.includes(name)).sort(),
    );
  });

  it("kills and removes everything below", async () => {
    await manager.ensure({ name: pod, resources: {} });
    mkdirSync(`${path}/container`);
    const pid = startProcess();
    writeFileSync(`${path}/container/cgroup.procs`, String(pid));
    await manager.destroy({ name: pod });
    expect(readdirSync(`${v2Root}/${own}/kubepods`).includes("pod1")).toBe(false);
  });
});

describe("what cannot be removed", () => {
  it("is reported with its path when the time is up", async () => {
    // A folder that holds a file behaves as a cgroup that the kernel does not let go.
    const path = mkdtempSync(join(tmpdir(), "nodelet-cgroups-"));
    try {
      mkdirSync(`${path}/a/b`, { recursive: true });
      writeFileSync(`${path}/a/b/file`, "");
      writeFileSync(`${path}/a/cgroup.procs`, "");
      const manager = new CgroupfsManager({
        layout: { version: 2, hierarchies: [{ path, controllers: [] }] },
        destroyTimeoutMs: 20,
      });
      await expect(manager.destroy({ name: ["a"] })).rejects.toMatchObject({
        kind: "conflict",
        message: `the cgroup /a cannot be removed: ${path}/a/b is in use, no process is seen in it`,
      });
    } finally {
      rmSync(path, { recursive: true });
    }
  });
});

describe("names", () => {
  it("never reach the root or leave it", async () => {
    const manager = new CgroupfsManager({ layout: { version: 2, hierarchies: [] } });
    for (const name of [[], [".."], ["a", ".."], ["a/b"], ["a_b"], [""]]) {
      await expect(manager.destroy({ name })).rejects.toMatchObject({ kind: "invalid" });
      await expect(manager.ensure({ name, resources: {} })).rejects.toMatchObject({ kind: "invalid" });
    }
    expect(manager.parentFor(["kubepods", "pod1"])).toBe("/kubepods/pod1");
    expect(manager.parentFor([])).toBe("/");
  });
});
