import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
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
        return async () => child.exitCode === null && child.signalCode === null;
      };
      return { cgroups, parent, startProcess, cleanup: () => cgroups.destroy({ name: parent }) };
    },
  });
}
