import { randomBytes } from "node:crypto";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { DevNodeError, ignoringErrno } from "../errors.ts";
import { identifyProcess, type ProcessIdentity } from "../processes.ts";
import type { Tools } from "../tools/ensure-tools.ts";
import { type NodeRecord, writeNodeRecord } from "./node-record.ts";
import { isSubnetFree, subnetCount } from "./pod-network.ts";
import { claimSubnet, claimsDir, releaseSubnet } from "./subnet-claims.ts";

/** What {@link prepareDirectory} works on. */
export interface DirectoryOptions {
  dir: string;
  tools: Tools;
  cgroupRoot: string | undefined;
}

/** Claims directory and subnet, and writes the record before anything that would have to be cleaned exists. */
export async function prepareDirectory(options: DirectoryOptions): Promise<NodeRecord> {
  const { dir, tools } = options;
  const present = (await ignoringErrno(["ENOENT"], () => readdir(dir))) ?? [];
  if (present.length > 0) {
    throw new DevNodeError(
      "inUse",
      `${dir} must be absent or empty, since it is removed at the end; it holds ${present.slice(0, 3).join(", ")}`,
    );
  }
  const owner = await identifyProcess(process.pid);
  if (owner === undefined) {
    throw new DevNodeError("platform", "/proc does not show this process: mount /proc");
  }
  await mkdir(dir, { recursive: true, mode: 0o711 });
  const id = randomBytes(4).toString("hex");
  const subnetIndex = await chooseSubnet({ dir, owner, busybox: tools.busybox });
  // A UNIX socket's path holds 107 bytes (unix(7)), and containerd adds ".ttrpc" for its second one.
  const inside = join(dir, "c.sock");
  const socketPath = Buffer.byteLength(`${inside}.ttrpc`) <= 107 ? inside : join(claimsDir, `${id}.sock`);
  const record: NodeRecord = {
    formatVersion: 1,
    dir,
    owner,
    socketPath,
    cgroupRoot: options.cgroupRoot ?? `nodelet-${id}`,
    network: { name: `nl${id}`, subnetIndex },
    busybox: tools.busybox,
    containerd: undefined,
  };
  await writeNodeRecord(record);
  return record;
}

async function chooseSubnet(options: { dir: string; owner: ProcessIdentity; busybox: string }): Promise<number> {
  const { dir, owner } = options;
  const first = Math.floor(Math.random() * subnetCount);
  for (let step = 0; step < subnetCount; step++) {
    const index = (first + step) % subnetCount;
    if (!(await claimSubnet({ dir, owner, subnetIndex: index }))) {
      continue;
    }
    if (await isSubnetFree(options.busybox, index)) {
      return index;
    }
    await releaseSubnet({ dir, subnetIndex: index });
  }
  throw new DevNodeError("start", "all /22 networks of 10.213.0.0-10.216.255.255 are in use on this machine");
}
