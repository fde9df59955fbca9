import { access, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DevNodeError } from "../errors.ts";
import type { Log } from "../processes.ts";
import { ensurePackages } from "../tools/debian-packages.ts";
import { defaultCacheDir, ensureTools, findOnPath } from "../tools/ensure-tools.ts";
import { patchStateRestore } from "./kernel-patch.ts";

/** What booting a guest takes. */
export interface GuestTools {
  /** The User-mode Linux kernel, a program. */
  kernel: string;
  /** Folder with its modules, by version. */
  modules: string;
  /** Unpacked packages that the guest needs and the machine has not got; undefined when it has all. */
  layer: string | undefined;
  /** A static busybox. */
  busybox: string;
}

/**
 * Finds or fetches what a guest needs. The kernel is always that of Debian 12 (6.1): later ones come without NAT, and
 * were seen to corrupt their programs on processors with a large floating-point state.
 */
export async function ensureGuestTools(options: { cacheDir?: string; log: Log }): Promise<GuestTools> {
  if (process.arch !== "x64") {
    const what = `the guest needs an x64 machine, since User-mode Linux exists there only; this is ${process.arch}`;
    throw new DevNodeError("platform", what);
  }
  const { log, cacheDir = defaultCacheDir } = options;
  const { busybox } = await ensureTools({ versions: [], cacheDir, log });
  const { root } = await ensurePackages(
    { key: "guest-kernel", suite: "bookworm", packages: ["user-mode-linux"], why: "to boot a guest" },
    { cacheDir, log },
  );
  const kernel = join(root, "linux.patched");
  if (!(await exists(kernel))) {
    const draft = `${kernel}.${process.pid}`;
    await writeFile(draft, patchStateRestore(await readFile(join(root, "usr/bin/linux.uml"))), { mode: 0o755 });
    await rename(draft, kernel);
  }
  const layer = await ensureLayer({ cacheDir, log });
  return { kernel, modules: join(root, "usr/lib/uml/modules"), layer, busybox };
}

async function ensureLayer(options: { cacheDir: string; log: Log }): Promise<string | undefined> {
  const needs = [
    { name: "kmod", isThere: (await findOnPath("modprobe")) !== undefined },
    { name: "iptables", isThere: (await findOnPath("iptables")) !== undefined },
    { name: "systemd", isThere: await exists("/lib/systemd/systemd") },
    { name: "dbus", isThere: (await findOnPath("dbus-daemon")) !== undefined },
  ];
  const packages = needs.filter(({ isThere }) => !isThere).map(({ name }) => name);
  if (packages.length === 0) {
    return undefined;
  }
  const why = "by the guest, to run systemd";
  const set = { key: `guest-${packages.join("+")}`, packages, withDependencies: true, why };
  return (await ensurePackages(set, options)).root;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
