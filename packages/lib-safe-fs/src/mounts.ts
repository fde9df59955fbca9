import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";

/** One line of /proc/self/mountinfo (proc_pid_mountinfo(5)). */
export interface MountEntry {
  readonly mountId: number;
  readonly parentId: number;
  readonly mountPoint: string;
  readonly root: string;
  readonly fsType: string;
  readonly source: string;
  readonly mountOptions: readonly string[];
  readonly superOptions: readonly string[];
  /** Optional fields such as `shared:1`. */
  readonly propagation: readonly string[];
}

/** All mounts that this process sees, in the kernel's order. The list is the kernel's own and does not touch the mounted file systems. */
export async function readMounts(path = "/proc/self/mountinfo"): Promise<readonly MountEntry[]> {
  return parseMountInfo(await readFile(path, "utf8"));
}

/**
 * The mounts at `path` (absolute, resolved) and below it, from the file `mountInfoPath`. A node has thousands of mounts, nearly none of them
 * here: only lines in which the path stands are taken apart.
 */
export async function readMountsAtOrBelow(options: {
  readonly path: string;
  readonly mountInfoPath: string;
}): Promise<readonly MountEntry[]> {
  const { path, mountInfoPath } = options;
  const text = await readFile(mountInfoPath, "utf8");
  // The kernel writes some characters in another way, and then the text of the path proves nothing.
  const lines = /[\s\\]/.test(path) ? text.split("\n") : linesWith(text, ` ${path}`);
  return mountsAtOrBelow(
    lines.flatMap((line) => parseLine(line) ?? []),
    path,
  );
}

function linesWith(text: string, part: string): readonly string[] {
  return text.includes(part) ? text.split("\n").filter((line) => line.includes(part)) : [];
}

/** Parses mountinfo text. Lines that do not have its form are left out. */
export function parseMountInfo(text: string): readonly MountEntry[] {
  return text.split("\n").flatMap((line) => parseLine(line) ?? []);
}

/** Mounts at `path` (absolute, resolved) and below it. */
export function mountsAtOrBelow(mounts: readonly MountEntry[], path: string): readonly MountEntry[] {
  const prefix = path.endsWith("/") ? path : `${path}/`;
  return mounts.filter((mount) => mount.mountPoint === path || mount.mountPoint.startsWith(prefix));
}

/**
 * The kernel's id of the mount that an open directory lies on. Bind mounts of one file system differ in it, which st_dev does not show, and
 * it belongs to the descriptor: no race with mounting.
 */
export function mountIdOf(directory: { readonly fd: number }): number {
  // Answered from memory by the kernel: a thread of the pool would cost more than the call.
  const text = readFileSync(`/proc/self/fdinfo/${directory.fd}`, "utf8");
  const id = /^mnt_id:\s*(\d+)$/m.exec(text)?.[1];
  if (id === undefined)
    throw new Error(`/proc/self/fdinfo/${directory.fd}: no mnt_id: a Linux kernel from 3.15 on is needed`);
  return Number(id);
}

function parseLine(line: string): MountEntry | undefined {
  const [left, right] = line.split(" - ", 2);
  if (left === undefined || right === undefined) return undefined;
  const [mountId, parentId, , root, mountPoint, options, ...propagation] = left.split(" ");
  const [fsType, source, superOptions] = right.split(" ");
  if (root === undefined || mountPoint === undefined || options === undefined || fsType === undefined) return undefined;
  return {
    mountId: Number(mountId),
    parentId: Number(parentId),
    mountPoint: unescapeOctal(mountPoint),
    root: unescapeOctal(root),
    fsType,
    source: unescapeOctal(source ?? ""),
    mountOptions: options.split(","),
    superOptions: (superOptions ?? "").split(","),
    propagation,
  };
}

/** The kernel writes space, tab, newline and backslash as three octal digits. */
function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
