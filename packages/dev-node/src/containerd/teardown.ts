import { readdir, readFile, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DevNodeError, ignoringErrno } from "../errors.ts";
import { isAlive, type Log, listProcesses, runCommand, signalProcess, waitForExit } from "../processes.ts";
import { withFileLock } from "../tools/file-lock.ts";
import { listCgroupMounts, removeCgroupTrees, removeEmptyDefaultParent } from "./cgroup-tree.ts";
import { isShimOf, listMountsBelow, listTaskIds, shimSocketPath } from "./leftovers.ts";
import { describeFolders, type NodeRecord, readNodeRecord } from "./node-record.ts";
import { deleteBridge, removeCniResults } from "./pod-network.ts";
import { directoryLockPath, listClaims, listDeadClaims, releaseSubnet, removeClaimsDir } from "./subnet-claims.ts";

/**
 * Takes a development node down: its containerd, shims and containers (by process id, with a check of the start time),
 * mounts, cgroups below its cgroup root, network devices, sockets and its directory. Nothing is asked of containerd,
 * so it works after any crash. Steps that fail do not hinder the later ones; all failures come in one `cleanup` error.
 */
export async function tearDown(record: NodeRecord): Promise<void> {
  await withDirectoryLock(record.dir, async () => {
    const current = await readNodeRecord(record.dir).catch(() => record);
    if (current !== undefined && current.cgroupRoot !== record.cgroupRoot) {
      // Another process took this node down and made a new one in the same directory.
      return;
    }
    await tearDownLocked(record);
  });
  await removeClaimsDir();
}

/** Runs `action` while no other process makes or takes down a node in the directory. */
export async function withDirectoryLock<T>(dir: string, action: () => Promise<T>): Promise<T> {
  return withFileLock({ path: directoryLockPath(dir), timeoutMs: 60_000, log: () => {} }, action);
}

async function tearDownLocked(record: NodeRecord): Promise<void> {
  const failures: string[] = [];
  const step = async (action: () => Promise<void>): Promise<void> => {
    await action().catch((error: unknown) => failures.push(error instanceof Error ? error.message : String(error)));
  };
  await step(() => endContainerd(record));
  await step(() => endShims(record));
  await step(() => endContainers(record));
  await step(() => removeCgroups(record));
  await step(() => unmountAll(record));
  await step(() => deleteBridge(record.busybox, record.network.name));
  await step(() => removeCniResults({ network: record.network.name, stateDir: describeFolders(record.dir).state }));
  await step(() => removeSockets(record));
  await step(() => removeFolder(record));
  if (failures.length > 0) {
    const what = failures.join("; ");
    throw new DevNodeError("cleanup", `development node ${record.dir} is not wholly taken down: ${what}`);
  }
  await releaseSubnet({ dir: record.dir, subnetIndex: record.network.subnetIndex });
  await removeSharedFolders();
}

/**
 * Takes down what a dead process left in a directory. Resolves with false when there is nothing to do, and fails with
 * an `inUse` error when the node's owner is alive.
 */
export async function reap(dir: string): Promise<boolean> {
  const record = await readNodeRecord(dir);
  if (record === undefined) {
    return false;
  }
  if (await isAlive(record.owner)) {
    throw new DevNodeError(
      "inUse",
      `the development node in ${dir} belongs to process ${record.owner.pid}, which is alive`,
    );
  }
  await tearDown(record);
  return true;
}

/**
 * Takes down every development node of this machine whose owner died. Says through `log` what it took down and what
 * it could not; the latter never hinders a new node.
 */
export async function reapDead(log: Log): Promise<void> {
  for (const claim of await listDeadClaims()) {
    try {
      const record = await readNodeRecord(claim.dir);
      if (record?.network.subnetIndex === claim.subnetIndex) {
        await reap(claim.dir);
        log(`took down what the dead process ${claim.owner.pid} left in ${claim.dir}`);
      } else {
        await releaseSubnet(claim);
      }
    } catch (error) {
      log(
        `cannot take down what process ${claim.owner.pid} left: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
}

/** Looks for the process by the configuration that it runs with: a crash may have come before its id was recorded. */
async function endContainerd(record: NodeRecord): Promise<void> {
  const { config } = describeFolders(record.dir);
  const daemons = (await listProcesses()).filter(({ argv }) => argv.at(-2) === "--config" && argv.at(-1) === config);
  for (const daemon of daemons) {
    await signalProcess(daemon, "SIGCONT");
    await signalProcess(daemon, "SIGTERM");
    if (!(await waitForExit(daemon, 5_000))) {
      await signalProcess(daemon, "SIGKILL");
      if (!(await waitForExit(daemon, 5_000))) {
        throw new DevNodeError("cleanup", `containerd (process ${daemon.pid}) does not end`);
      }
    }
  }
}

/** A shim that is just starting may appear while we look, so the look is repeated until it finds none. */
async function endShims(record: NodeRecord): Promise<void> {
  const end = performance.now() + 5_000;
  for (;;) {
    const shims = (await listProcesses()).filter((process) => isShimOf(record, process));
    if (shims.length === 0) {
      return;
    }
    if (performance.now() > end) {
      throw new DevNodeError("cleanup", `shims do not end: ${shims.map(({ pid }) => pid).join(", ")}`);
    }
    for (const shim of shims) {
      await signalProcess(shim, "SIGKILL");
    }
    await sleep(10);
  }
}

/** What we read of runc's state.json of a container. */
interface RuncState {
  init_process_pid?: number;
  init_process_start?: number;
  cgroup_paths?: Record<string, string>;
}

/** Containers outlive their shim: process 1 ends the rest of its PID namespace, the cgroup holds all others. */
async function endContainers(record: NodeRecord): Promise<void> {
  for (const { folder } of await listTaskIds(record)) {
    const text = await ignoringErrno(["ENOENT", "ENOTDIR"], () => readFile(join(folder, "state.json"), "utf8"));
    if (text === undefined) {
      continue;
    }
    const state = JSON.parse(text) as RuncState;
    if (state.init_process_pid !== undefined && state.init_process_start !== undefined) {
      const init = { pid: state.init_process_pid, startTicks: String(state.init_process_start) };
      await signalProcess(init, "SIGKILL");
    }
    // A container in a hierarchy that it has no cgroup of its own in is in the root there.
    const mounts = await listCgroupMounts();
    const cgroups = Object.values(state.cgroup_paths ?? {}).filter((path) =>
      mounts.some((mount) => dirname(path) !== mount && path.startsWith(`${mount}/`)),
    );
    await removeCgroupTrees(cgroups);
    for (const path of cgroups) {
      await removeEmptyDefaultParent(path);
    }
  }
}

async function removeCgroups(record: NodeRecord): Promise<void> {
  await removeCgroupTrees((await listCgroupMounts()).map((mount) => join(mount, record.cgroupRoot)));
}

async function unmountAll(record: NodeRecord): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt++) {
    const mounts = await listMountsBelow(record.dir);
    if (mounts.length === 0) {
      return;
    }
    // Lazily: a process that is just dying may hold a mount for another moment. umount goes on after a failure.
    await runCommand(["umount", "-n", "-l", ...mounts.reverse()]).catch(() => undefined);
  }
  throw new DevNodeError("cleanup", `cannot unmount ${(await listMountsBelow(record.dir)).join(", ")}`);
}

async function removeSockets(record: NodeRecord): Promise<void> {
  for (const { namespace, id } of await listTaskIds(record)) {
    await rm(shimSocketPath({ address: record.socketPath, namespace, id }), { force: true });
  }
  await rm(record.socketPath, { force: true });
  await rm(`${record.socketPath}.ttrpc`, { force: true });
}

/** The record goes last, so that an interrupted removal is taken up again. Never enters a mount. */
async function removeFolder(record: NodeRecord): Promise<void> {
  if ((await listMountsBelow(record.dir)).length > 0) {
    throw new DevNodeError("cleanup", `${record.dir} still holds mounts, so it is not removed`);
  }
  for (const name of (await ignoringErrno(["ENOENT"], () => readdir(record.dir))) ?? []) {
    if (name !== "node.json") {
      await rm(join(record.dir, name), { recursive: true, force: true });
    }
  }
  await rm(record.dir, { recursive: true, force: true });
}

/**
 * Folders outside our own that containerd, runc and CNI share between instances. They go with the last development
 * node, when empty: removing one while another node's shim is starting would make that start fail.
 */
async function removeSharedFolders(): Promise<void> {
  if ((await listClaims()).length > 0) {
    return;
  }
  const shared = [
    "/run/containerd/s",
    "/run/containerd/fifo",
    "/run/containerd/runc/k8s.io",
    "/run/containerd/runc/default",
    "/run/containerd/runc",
    "/run/containerd",
    "/var/lib/cni/results",
    "/var/lib/cni/networks",
    "/var/lib/cni",
    ...(await listCgroupMounts()).map((mount) => join(mount, "k8s.io")),
  ];
  for (const path of shared) {
    await ignoringErrno(["ENOENT", "ENOTEMPTY", "EBUSY"], () => rmdir(path));
  }
}
