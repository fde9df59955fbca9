import { access, constants } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { DevNodeError } from "../errors.ts";
import { type Log, runCommand } from "../processes.ts";
import { ensurePackages, type PackageSet } from "./debian-packages.ts";

/** The two families of containerd that nodelet is held against. */
export type ContainerdVersion = "1.6" | "2.1";

/** One containerd: its programs lie together in `binDir`. */
export interface ContainerdTool {
  /** The version that it claims itself: "2.1.9+unknown". */
  version: string;
  /** Holds `containerd`, `containerd-shim-runc-v2` and `ctr`. */
  binDir: string;
}

/** Absolute paths of everything that a development node needs. */
export interface Tools {
  containerd: Readonly<Partial<Record<ContainerdVersion, ContainerdTool>>>;
  runc: string;
  /** Folder with the CNI plugins bridge, host-local, loopback and portmap. */
  cniBinDir: string;
  /** A statically linked busybox. */
  busybox: string;
}

/** What {@link ensureTools} shall see to. */
export interface EnsureToolsOptions {
  /** Default: both. */
  versions?: readonly ContainerdVersion[];
  /** Default: `.nodelet/cache` at the top of this repository. */
  cacheDir?: string;
  log?: Log;
}

const containerdSuites: Readonly<Record<ContainerdVersion, PackageSet>> = {
  "1.6": {
    key: "containerd-1.6",
    suite: "bookworm",
    packages: ["containerd"],
    why: "as the older runtime to run pods on",
  },
  "2.1": {
    key: "containerd-2.1",
    suite: "forky",
    packages: ["containerd"],
    why: "as the newer runtime to run pods on",
  },
};

/** The folder that fetched programs are kept in when the caller names none. */
export const defaultCacheDir: string = fileURLToPath(new URL("../../../../.nodelet/cache", import.meta.url));

/**
 * Finds the programs of a development node: the machine's own where they fit, else fetched from Debian and unpacked
 * under `cacheDir` (nothing on the machine itself changes). Says what it fetches and why through `log`.
 * Fails with a `platform` error off Linux, off x64 and arm64, when not root, or when something is missing off Debian.
 */
export async function ensureTools(options: EnsureToolsOptions = {}): Promise<Tools> {
  requirePlatform();
  const log = options.log ?? (() => {});
  const cacheDir = options.cacheDir ?? defaultCacheDir;
  const context = { cacheDir, log };
  const versions = options.versions ?? (["1.6", "2.1"] as const);
  const [found, rest] = await Promise.all([
    Promise.all(versions.map(async (version) => [version, await ensureContainerd(version, context)] as const)),
    ensureCommonTools(context),
  ]);
  return { containerd: Object.fromEntries(found), ...rest };
}

async function ensureCommonTools(context: Context): Promise<Omit<Tools, "containerd">> {
  const own = {
    runc: await findOnPath("runc"),
    cniBinDir: await findCniPlugins(),
    busybox: await findStaticBusybox(),
  };
  const missing = [
    ...(own.runc === undefined ? ["runc"] : []),
    ...(own.cniBinDir === undefined ? ["containernetworking-plugins"] : []),
    ...(own.busybox === undefined ? ["busybox-static"] : []),
  ];
  const why = "to start containers, give pods a network and make small images";
  const set = { key: missing.join("+"), packages: missing, why };
  const root = missing.length === 0 ? "/" : (await ensurePackages(set, context)).root;
  return {
    runc: own.runc ?? join(root, "usr/sbin/runc"),
    cniBinDir: own.cniBinDir ?? join(root, "usr/lib/cni"),
    busybox: own.busybox ?? join(root, "bin/busybox"),
  };
}

function requirePlatform(): void {
  const without = "Without containers there is the in-memory runtime";
  if (process.platform !== "linux") {
    throw new DevNodeError("platform", `real containers need Linux, this is ${process.platform}. ${without}.`);
  }
  if (process.arch !== "x64" && process.arch !== "arm64") {
    throw new DevNodeError(
      "platform",
      `real containers need an x64 or arm64 machine, this is ${process.arch}. ${without}.`,
    );
  }
  if (process.getuid?.() !== 0) {
    throw new DevNodeError("platform", `real containers need root: run this with sudo. ${without}.`);
  }
}

interface Context {
  cacheDir: string;
  log: Log;
}

async function ensureContainerd(version: ContainerdVersion, context: Context): Promise<ContainerdTool> {
  const own = await findOnPath("containerd");
  if (own !== undefined) {
    const tool = await readContainerdTool(dirname(own));
    if (tool !== undefined && isOfFamily(tool.version, version)) {
      return tool;
    }
  }
  const binDir = join((await ensurePackages(containerdSuites[version], context)).root, "usr/bin");
  const tool = await readContainerdTool(binDir);
  if (tool === undefined) {
    throw new DevNodeError(
      "tool",
      `${binDir} holds no working containerd with its shim and ctr: remove ${dirname(binDir)} and try again`,
    );
  }
  return tool;
}

/** The containerd in a folder of programs, or undefined when one of its three programs is missing or does not run. */
export async function readContainerdTool(binDir: string): Promise<ContainerdTool | undefined> {
  for (const name of ["containerd", "containerd-shim-runc-v2", "ctr"]) {
    if (!(await isExecutable(join(binDir, name)))) {
      return undefined;
    }
  }
  const output = await runCommand([join(binDir, "containerd"), "--version"]).catch(() => undefined);
  const version = output?.stdout.trim().split(/\s+/)[2]?.replace(/^v/, "");
  return version === undefined ? undefined : { version, binDir };
}

/** "2.1" stands for 2.1 and every later 2.x, since a moving suite moves on; "1.6" for 1.6 alone. */
export function isOfFamily(version: string, family: ContainerdVersion): boolean {
  const match = /^(\d+)\.(\d+)\./.exec(version);
  const [major, minor] = [Number(match?.[1]), Number(match?.[2])];
  return family === "1.6" ? major === 1 && minor === 6 : major === 2 && minor >= 1;
}

/** The absolute path of a program on PATH or in the usual folders, or undefined. */
export async function findOnPath(name: string): Promise<string | undefined> {
  for (const directory of (process.env["PATH"] ?? "")
    .split(":")
    .concat("/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/bin")) {
    const path = join(directory, name);
    if (directory.startsWith("/") && (await isExecutable(path))) {
      return path;
    }
  }
  return undefined;
}

async function findCniPlugins(): Promise<string | undefined> {
  for (const directory of ["/usr/lib/cni", "/opt/cni/bin"]) {
    const plugins = ["bridge", "host-local", "loopback", "portmap"].map((name) => isExecutable(join(directory, name)));
    if ((await Promise.all(plugins)).every(Boolean)) {
      return directory;
    }
  }
  return undefined;
}

/** A dynamically linked busybox cannot run in an image of its own; ldd says so of static programs. */
async function findStaticBusybox(): Promise<string | undefined> {
  const path = await findOnPath("busybox");
  if (path === undefined) {
    return undefined;
  }
  const isDynamic = await runCommand(["ldd", path]).then(
    () => true,
    () => false,
  );
  return isDynamic ? undefined : path;
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
