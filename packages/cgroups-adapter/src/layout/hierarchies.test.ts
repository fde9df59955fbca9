import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { findCgroupLayout } from "./hierarchies.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nodelet-cgroups-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const line = (mountPoint: string, fsType: string, superOptions: string) =>
  `30 25 0:27 / ${mountPoint} rw,nosuid shared:9 - ${fsType} ${fsType} ${superOptions}`;

async function layoutOf(lines: readonly string[], root?: string) {
  const mountInfoPath = join(folder, "mountinfo");
  writeFileSync(mountInfoPath, `${lines.join("\n")}\n`);
  const readControllers = async (path: string) => [`asked ${path}`];
  return findCgroupLayout({ mountInfoPath, readControllers, ...(root !== undefined && { root }) });
}

it("finds version 2", async () => {
  expect(await layoutOf([line("/", "ext4", "rw"), line("/sys/fs/cgroup", "cgroup2", "rw,nsdelegate")])).toEqual({
    version: 2,
    hierarchies: [{ path: "/sys/fs/cgroup", controllers: ["asked /sys/fs/cgroup"] }],
  });
});

it("finds version 1 and the hybrid layout, each tree once", async () => {
  const lines = [
    line("/sys/fs/cgroup", "tmpfs", "rw,mode=755"),
    line("/sys/fs/cgroup/unified", "cgroup2", "rw"),
    line("/sys/fs/cgroup/systemd", "cgroup", "rw,xattr,release_agent=/lib/systemd/systemd-cgroups-agent,name=systemd"),
    line("/sys/fs/cgroup/cpu,cpuacct", "cgroup", "rw,cpu,cpuacct"),
    line("/sys/fs/cgroup/again", "cgroup", "rw,cpuacct,cpu"),
    line("/sys/fs/cgroup/cpuset", "cgroup", "rw,cpuset,cpuset_v2_mode"),
    line("/elsewhere/memory", "cgroup", "rw,memory"),
  ];
  expect(await layoutOf(lines)).toEqual({
    version: 1,
    hierarchies: [
      { path: "/sys/fs/cgroup/systemd", controllers: ["name=systemd"] },
      { path: "/sys/fs/cgroup/cpu,cpuacct", controllers: ["cpu", "cpuacct"] },
      { path: "/sys/fs/cgroup/cpuset", controllers: ["cpuset"] },
      { path: "/sys/fs/cgroup/unified", controllers: [] },
    ],
  });
  const plain = await layoutOf(lines.filter((each) => !each.includes("/unified")));
  expect(plain.hierarchies.map(({ path }) => path)).not.toContain("/sys/fs/cgroup/unified");
  expect(await layoutOf(lines, "/sys/fs/cgroup/unified")).toMatchObject({ version: 2 });
});

it("takes what is mounted on top", async () => {
  const lines = [line("/sys/fs/cgroup", "cgroup2", "rw"), line("/sys/fs/cgroup", "tmpfs", "rw")];
  await expect(layoutOf(lines)).rejects.toMatchObject({ kind: "unsupported" });
});
