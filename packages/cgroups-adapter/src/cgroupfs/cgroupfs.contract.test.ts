import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { CgroupName } from "@nodelet/core";
import { describeCgroupManagerContract } from "@nodelet/testkit/contracts";
import { CgroupfsManager } from "./cgroupfs-manager.ts";

/** The mounts of this machine that the suite can run on: the main one, and the version 2 tree beside version 1 when there is one. */
const roots = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].filter((path) => existsSync(path));

for (const root of roots) {
  describeCgroupManagerContract({
    name: `CgroupfsManager on ${root}`,
    makeFixture: async () => {
      const cgroups = await CgroupfsManager.discover({ root });
      const parent = [`nodelet-test-contract-${process.pid}`];
      const tree = cgroups.capabilities.version === 2 ? root : `${root}/memory`;
      const startProcess = async (name: CgroupName) => {
        const child = spawn("sh", ["-c", "trap '' TERM HUP INT; echo up; read line"], {
          stdio: ["pipe", "pipe", "ignore"],
        });
        await once(child.stdout, "data");
        writeFileSync(`${tree}/${name.join("/")}/cgroup.procs`, String(child.pid));
        // Dead is what the kernel calls so; Node.js hears of it a moment later.
        return async () =>
          !/^State:\s+[ZX]/m.test(await readFile(`/proc/${child.pid}/status`, "utf8").catch(() => "State: X"));
      };
      return { cgroups, parent, startProcess, cleanup: () => cgroups.destroy({ name: parent }) };
    },
  });
}
