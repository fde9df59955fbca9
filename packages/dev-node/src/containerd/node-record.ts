import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DevNodeError, errnoOf, ignoringErrno } from "../errors.ts";
import { isAlive, type ProcessIdentity } from "../processes.ts";
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

/**
 * Claims of subnets, one file each, shared by all development nodes of the machine: it keeps two nodes from taking
 * one subnet, and lists the nodes whose owner died.
 */
const claimsDir = "/run/nodelet-dev-nodes";

/** One claimed subnet. */
export interface Claim {
  dir: string;
  owner: ProcessIdentity;
  subnetIndex: number;
}

/** Claims one of the given subnets for a node, trying them in order; undefined when all are taken. */
export async function claimSubnet(
  claim: Omit<Claim, "subnetIndex">,
  indexes: Iterable<number>,
): Promise<number | undefined> {
  await mkdir(claimsDir, { recursive: true });
  for (const subnetIndex of indexes) {
    try {
      await writeFile(claimPath(subnetIndex), JSON.stringify({ ...claim, subnetIndex }), { flag: "wx" });
      return subnetIndex;
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") {
        throw error;
      }
    }
  }
  return undefined;
}

/** Every claim that can be read. */
export async function listClaims(): Promise<Claim[]> {
  const claims: Claim[] = [];
  for (const name of (await ignoringErrno(["ENOENT"], () => readdir(claimsDir))) ?? []) {
    const text = name.endsWith(".json") ? await readFile(join(claimsDir, name), "utf8").catch(() => "") : "";
    try {
      claims.push(JSON.parse(text) as Claim);
    } catch {
      // A claim that is being written this instant: its owner is alive.
    }
  }
  return claims;
}

/** Gives a subnet back, if it is still this directory's. */
export async function releaseSubnet(claim: { dir: string; subnetIndex: number }): Promise<void> {
  const held = (await listClaims()).find(({ subnetIndex }) => subnetIndex === claim.subnetIndex);
  if (held?.dir === claim.dir) {
    await rm(claimPath(claim.subnetIndex), { force: true });
  }
}

/** Claims whose owner is gone. */
export async function listDeadClaims(): Promise<Claim[]> {
  const dead: Claim[] = [];
  for (const claim of await listClaims()) {
    if (!(await isAlive(claim.owner))) {
      dead.push(claim);
    }
  }
  return dead;
}

/** The lock that serialises taking one node down. */
export function teardownLockPath(subnetIndex: number): string {
  return join(claimsDir, `${subnetIndex}.lock`);
}

function claimPath(subnetIndex: number): string {
  return join(claimsDir, `${subnetIndex}.json`);
}
