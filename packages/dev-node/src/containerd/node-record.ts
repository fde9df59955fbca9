import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DevNodeError, ignoringErrno } from "../errors.ts";
import type { ProcessIdentity } from "../processes.ts";
import type { PodNetwork } from "./pod-network.ts";

/**
 * All that is needed to take a development node down, kept in `node.json` of its directory from before its first
 * process or device exists, so that another process can do it after its owner was killed.
 */
export interface NodeRecord {
  formatVersion: 1;
  /** The directory that all of it lies in; wholly ours. */
  dir: string;
  /** The process that the node belongs to. */
  owner: ProcessIdentity;
  socketPath: string;
  /** Top-level cgroup name that agents on this node put their pods under; "nodelet-12ab…". */
  cgroupRoot: string;
  network: PodNetwork;
  /** Static busybox, for its `ip`. */
  busybox: string;
  /** Undefined until containerd is started for the first time. */
  containerd: ProcessIdentity | undefined;
}

/** The folders of a node. */
export function describeFolders(dir: string): {
  root: string;
  state: string;
  runc: string;
  cniConf: string;
  ipam: string;
  registries: string;
  log: string;
  config: string;
} {
  return {
    root: join(dir, "root"),
    state: join(dir, "state"),
    runc: join(dir, "runc"),
    cniConf: join(dir, "cni/conf"),
    ipam: join(dir, "cni/ipam"),
    registries: join(dir, "registries"),
    log: join(dir, "containerd.log"),
    config: join(dir, "config.toml"),
  };
}

/** Writes the record by temporary file and rename. */
export async function writeNodeRecord(record: NodeRecord): Promise<void> {
  const path = join(record.dir, "node.json");
  await writeFile(`${path}.tmp`, `${JSON.stringify(record, undefined, 2)}\n`);
  await rename(`${path}.tmp`, path);
}

/** The record in a directory; undefined when there is none. A damaged one is a `cleanup` error. */
export async function readNodeRecord(dir: string): Promise<NodeRecord | undefined> {
  const text = await ignoringErrno(["ENOENT", "ENOTDIR"], () => readFile(join(dir, "node.json"), "utf8"));
  if (text === undefined) {
    return undefined;
  }
  try {
    const record = JSON.parse(text) as NodeRecord;
    if (record.formatVersion === 1 && record.dir === dir) {
      return record;
    }
  } catch {
    // Falls through to the error below, which says all there is to say.
  }
  throw new DevNodeError(
    "cleanup",
    `${join(dir, "node.json")} is not a record of a development node of ${dir}: look at it and remove ${dir} by hand`,
  );
}
