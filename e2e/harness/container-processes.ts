import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { cgroupTrees } from "./cgroups.ts";
import type { NodeUnderTest } from "./node-under-test.ts";

/** Kills the processes in the cgroup of a container, or of a sandbox's own process, of a BestEffort pod. */
export async function killProcessesOf(
  node: NodeUnderTest,
  of: { readonly podUid: string; readonly id: string },
): Promise<void> {
  const [tree] = await cgroupTrees();
  const cgroup = `kubepods/besteffort/pod${of.podUid}/${of.id}/cgroup.procs`;
  const path = join(tree?.path ?? "", node.containerd.cgroupRoot, cgroup);
  for (const pid of (await readFile(path, "utf8")).split("\n").filter(Boolean).map(Number)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      // A child goes with the first process of its namespace.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}

/** The process that stands between containerd and all containers of a sandbox. */
export async function shimOf(node: NodeUnderTest, sandboxId: string): Promise<number> {
  const shim = (await node.containerd.listLeftovers()).find(
    ({ kind, what }) => kind === "shim" && what.includes(` -id ${sandboxId} `),
  );
  if (shim === undefined) throw new Error(`no shim of sandbox ${sandboxId}`);
  return Number(shim.what.split(" ")[0]);
}
