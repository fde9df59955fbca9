import { readFile } from "node:fs/promises";
import type { NodeUnderTest } from "./node-under-test.ts";

/** Process ids in the cgroup of a container, or of a sandbox's own process, of a BestEffort pod. */
export async function processesOf(
  node: NodeUnderTest,
  of: { readonly podUid: string; readonly id: string },
): Promise<readonly number[]> {
  const { cgroupRoot } = node.containerd;
  const path = `/sys/fs/cgroup/pids/${cgroupRoot}/kubepods/besteffort/pod${of.podUid}/${of.id}/cgroup.procs`;
  return (await readFile(path, "utf8")).split("\n").filter(Boolean).map(Number);
}

/** The process that stands between containerd and all containers of a sandbox. */
export async function shimOf(node: NodeUnderTest, sandboxId: string): Promise<number> {
  const shim = (await node.containerd.listLeftovers()).find(
    ({ kind, what }) => kind === "shim" && what.includes(` -id ${sandboxId} `),
  );
  if (shim === undefined) throw new Error(`no shim of sandbox ${sandboxId}`);
  return Number(shim.what.split(" ")[0]);
}
