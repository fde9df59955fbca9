import { createHash } from "node:crypto";
import { readdir, readFile, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { ignoringErrno } from "../errors.ts";
import { createExclusively } from "../exclusive-file.ts";
import { isAlive, type ProcessIdentity } from "../processes.ts";

/**
 * Claims of subnets, one file each, shared by all development nodes of the machine: it keeps two nodes from taking
 * one subnet, and lists the nodes whose owner died.
 */
export const claimsDir = "/run/nodelet-dev-nodes";

/** One claimed subnet. */
export interface Claim {
  /** The node's directory. */
  dir: string;
  owner: ProcessIdentity;
  subnetIndex: number;
}

/** Claims a subnet; false when it is taken. */
export async function claimSubnet(claim: Claim): Promise<boolean> {
  return createExclusively(claimPath(claim.subnetIndex), JSON.stringify(claim));
}

/** Every claim of the machine. */
export async function listClaims(): Promise<Claim[]> {
  const claims: Claim[] = [];
  for (const name of (await ignoringErrno(["ENOENT"], () => readdir(claimsDir))) ?? []) {
    const text = name.endsWith(".json") ? await readFile(join(claimsDir, name), "utf8").catch(() => "") : "";
    if (text !== "") {
      claims.push(JSON.parse(text) as Claim);
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

/** The lock that serialises making and taking down nodes in one directory. */
export function directoryLockPath(dir: string): string {
  return join(claimsDir, `${createHash("sha256").update(dir).digest("hex").slice(0, 16)}.lock`);
}

/** Removes the folder of claims when no node is left. */
export async function removeClaimsDir(): Promise<void> {
  await ignoringErrno(["ENOENT", "ENOTEMPTY"], () => rmdir(claimsDir));
}

function claimPath(subnetIndex: number): string {
  return join(claimsDir, `${subnetIndex}.json`);
}
