import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { ignoringErrno } from "../errors.ts";
import { listProcesses, type ProcessInfo } from "../processes.ts";
import { listCgroupMounts, listCgroupTree } from "./cgroup-tree.ts";
import { describeFolders, type NodeRecord } from "./node-record.ts";
import { listBridgePorts, listCniResults } from "./pod-network.ts";

/** Something on the machine that exists because of a pod, or because of the node itself. */
export interface Leftover {
  kind:
    | "process"
    | "shim"
    | "mount"
    | "cgroup"
    | "netns"
    | "interface"
    | "address"
    | "sandbox"
    | "container"
    | "socket"
    | "file";
  /** A path, a device name, an address, or a process with its command. */
  what: string;
}

/** Narrows a listing. */
export interface LeftoverOptions {
  /** Only what bears this pod UID in its path: cgroups and mounts. */
  uid?: string;
  /** Further folders to look for mounts in: an agent's root directory, the pods' log directory. */
  mountRoots?: readonly string[];
}

/**
 * What pods left on the machine: shims, container processes, mounts, cgroups below the node's cgroup root, network
 * namespaces, interfaces, addresses, containerd's own folders of sandboxes and containers, sockets. Empty on an idle
 * node and on one that was taken down. The daemon itself and its bridge do not count.
 */
export async function listLeftovers(record: NodeRecord, options: LeftoverOptions = {}): Promise<Leftover[]> {
  const [mounts, cgroups] = [await listMounts(record, options), await listPodCgroups(record)];
  if (options.uid !== undefined) {
    // The systemd driver writes a UID with underscores in unit names.
    const spellings = [options.uid, options.uid.replaceAll("-", "_")];
    return [...mounts, ...cgroups].filter(({ what }) => spellings.some((uid) => what.includes(uid)));
  }
  const folders = describeFolders(record.dir);
  const list = async (kind: Leftover["kind"], path: string): Promise<Leftover[]> => {
    const names = (await ignoringErrno(["ENOENT"], () => readdir(path))) ?? [];
    return names.map((name) => ({ kind, what: join(path, name) }));
  };
  const cri = ["io.containerd.grpc.v1.cri", "io.containerd.cri.v1.runtime"];
  const lists = await Promise.all([
    ...[folders.state, folders.root].flatMap((base) =>
      cri.flatMap((name) => [
        list("sandbox", join(base, name, "sandboxes")),
        list("container", join(base, name, "containers")),
      ]),
    ),
    ...cri.map((name) => list("netns", join(folders.state, name, "netns"))),
    listTasks(record),
    listProcessesOf(record),
    listAddresses(record),
    listSockets(record),
  ]);
  const interfaces = (await listBridgePorts(record.network.name)).map(
    (what): Leftover => ({ kind: "interface", what }),
  );
  const results = await listCniResults({ network: record.network.name, stateDir: folders.state });
  const files = results.map((what): Leftover => ({ kind: "file", what }));
  return [...lists.flat(), ...mounts, ...cgroups, ...interfaces, ...files];
}

/** Shims of this node: each carries the address of its containerd. */
export function isShimOf(record: NodeRecord, { argv }: ProcessInfo): boolean {
  const at = argv.indexOf("-address");
  return at > 0 && argv[at + 1] === record.socketPath;
}

/** Paths of all mounts in a folder of this mount namespace, in the order of mounting. */
export async function listMountsBelow(folder: string): Promise<string[]> {
  const text = await readFile("/proc/self/mountinfo", "utf8");
  return text.split("\n").flatMap((line) => {
    const path = line
      .split(" ")[4]
      ?.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
    return path !== undefined && (path === folder || path.startsWith(`${folder}/`)) ? [path] : [];
  });
}

/** Ids of tasks that containerd or runc keep a folder for, by containerd namespace. */
export async function listTaskIds(record: NodeRecord): Promise<{ namespace: string; id: string; folder: string }[]> {
  const { state, runc } = describeFolders(record.dir);
  const found: { namespace: string; id: string; folder: string }[] = [];
  for (const base of [join(state, "io.containerd.runtime.v2.task"), runc]) {
    for (const namespace of (await ignoringErrno(["ENOENT"], () => readdir(base))) ?? []) {
      for (const id of (await ignoringErrno(["ENOENT", "ENOTDIR"], () => readdir(join(base, namespace)))) ?? []) {
        found.push({ namespace, id, folder: join(base, namespace, id) });
      }
    }
  }
  return found;
}

/** Where the shim of a task listens: containerd derives it from its own address, the namespace and the task's id. */
export function shimSocketPath(options: { address: string; namespace: string; id: string }): string {
  const hash = createHash("sha256")
    .update(join(options.address, options.namespace, options.id))
    .digest("hex");
  return `/run/containerd/s/${hash}`;
}

async function listTasks(record: NodeRecord): Promise<Leftover[]> {
  return (await listTaskIds(record)).map(({ folder }) => ({ kind: "container", what: folder }));
}

async function listSockets(record: NodeRecord): Promise<Leftover[]> {
  const found: Leftover[] = [];
  const tasks = await listTaskIds(record);
  const paths = new Set(
    tasks.map(({ namespace, id }) => shimSocketPath({ address: record.socketPath, namespace, id })),
  );
  for (const what of paths) {
    if ((await ignoringErrno(["ENOENT"], () => stat(what))) !== undefined) {
      found.push({ kind: "socket", what });
    }
  }
  return found;
}

async function listMounts(record: NodeRecord, options: LeftoverOptions): Promise<Leftover[]> {
  const folders = [record.dir, ...(options.mountRoots ?? [])];
  const paths = (await Promise.all(folders.map(listMountsBelow))).flat();
  return [...new Set(paths)].map((what) => ({ kind: "mount", what }));
}

async function listPodCgroups(record: NodeRecord): Promise<Leftover[]> {
  const found: Leftover[] = [];
  for (const mount of await listCgroupMounts()) {
    for (const what of await listCgroupTree(join(mount, record.cgroupRoot))) {
      found.push({ kind: "cgroup", what });
    }
  }
  return found;
}

async function listProcessesOf(record: NodeRecord): Promise<Leftover[]> {
  const found: Leftover[] = [];
  for (const process of await listProcesses()) {
    const isContainerd = process.pid === record.containerd?.pid;
    const isInside = process.cwd === record.dir || process.cwd?.startsWith(`${record.dir}/`) === true;
    if (!isContainerd && (isShimOf(record, process) || isInside)) {
      const kind = isShimOf(record, process) ? "shim" : "process";
      found.push({ kind, what: `${process.pid} ${process.argv.join(" ")}` });
    }
  }
  return found;
}

/** host-local keeps one file for each address that it gave out. */
async function listAddresses(record: NodeRecord): Promise<Leftover[]> {
  const folder = join(describeFolders(record.dir).ipam, record.network.name);
  const names = (await ignoringErrno(["ENOENT"], () => readdir(folder))) ?? [];
  return names.filter((name) => /^\d/.test(name)).map((what) => ({ kind: "address", what }));
}
