import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, open, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DevNodeError } from "../errors.ts";
import { startGuardian } from "../guardian.ts";
import type { Log } from "../processes.ts";
import { ensureGuestTools, type GuestTools } from "./guest-tools.ts";

/** What shall run in the guest. */
export interface GuestOptions {
  /** Program and arguments, as root, found on the guest's PATH, in the machine's own file system. */
  command: readonly [string, ...string[]];
  /** Default: the working directory of this process. The guest sees it, and writes to a copy of its own. */
  cwd?: string;
  env?: Readonly<Record<string, string>>;
  /** A folder that machine and guest share, at /share in the guest. Default: a temporary one. */
  shareDir?: string;
  /** Kernel modules to load first. The default is what a CNI bridge, iptables and overlayfs need. */
  modules?: readonly string[];
  /** Default 3072. */
  memoryMiB?: number;
  /** From the start of the boot; the guest is killed then. Default 300 s. */
  timeoutMs?: number;
  /** Kills the guest. */
  signal?: AbortSignal;
  cacheDir?: string;
  log?: Log;
}

/** What came of it. */
export interface GuestResult {
  exitCode: number;
  /** Both streams of the command. */
  output: string;
  /** From power on to power off. */
  durationMs: number;
}

const defaultModules = [
  ...["overlay", "veth", "bridge", "br_netfilter"],
  ...["ip_tables", "iptable_nat", "iptable_filter", "nf_tables"],
  ...["xt_MASQUERADE", "xt_comment", "xt_addrtype", "xt_conntrack", "xt_mark", "xt_nat"],
];

/**
 * Boots a Linux of its own (User-mode Linux 6.1) on a copy-on-write view of this machine's root, with
 * systemd as process 1, cgroup v2 only, D-Bus, and full root rights over its own network and cgroups; runs one command
 * there, and powers off. One processor. Nothing outside the shared folder changes here.
 * Fails with a `platform` error off x64, a `command` error when it does not boot or does not end in time.
 */
export async function runInGuest(options: GuestOptions): Promise<GuestResult> {
  const log = options.log ?? (() => {});
  const cache = options.cacheDir === undefined ? {} : { cacheDir: options.cacheDir };
  const tools = await ensureGuestTools({ log, ...cache });
  const work = await mkdtemp(join(tmpdir(), "nodelet-guest-"));
  try {
    const share = await realpath(options.shareDir ?? work);
    await writeFile(join(share, "run.sh"), renderScript(options));
    await rm(join(share, "rc"), { force: true });
    const start = performance.now();
    const { memoryMiB = 3072, timeoutMs = 300_000, signal } = options;
    await boot({ tools, share, work, memoryMiB, timeoutMs, signal });
    const durationMs = performance.now() - start;
    const output = await readFile(join(share, "output"), "utf8").catch(() => "");
    const exitCode = await readFile(join(share, "rc"), "utf8").catch(() => undefined);
    if (exitCode === undefined) {
      const console = (await readFile(join(work, "console"), "utf8")).slice(-3000);
      throw new DevNodeError(
        "command",
        `the guest ended without running its command. Its console:\n${console}\n${output}`,
      );
    }
    return { exitCode: Number(exitCode), output, durationMs };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function renderScript(options: GuestOptions): string {
  const { command, env = {}, cwd = process.cwd(), modules = defaultModules } = options;
  const path = `${join(process.execPath, "..")}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`;
  const all: Record<string, string> = { PATH: path, HOME: "/root", LANG: "C.UTF-8", NODELET_GUEST: "1", ...env };
  return [
    "#!/bin/sh",
    "set -eu",
    ...Object.entries(all).map(([name, value]) => `export ${name}=${quote(value)}`),
    // Those that are built in or missing say so; what really needs one fails by itself.
    `modprobe -a ${modules.map(quote).join(" ")} || true`,
    `cd ${quote(cwd)}`,
    `exec ${command.map(quote).join(" ")}`,
    "",
  ].join("\n");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

interface BootOptions {
  tools: GuestTools;
  share: string;
  work: string;
  memoryMiB: number;
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

async function boot(options: BootOptions): Promise<void> {
  const { tools, share, work } = options;
  // A copy, since the kernel asks for an executable file, and not every way of getting this source keeps modes.
  const init = join(work, "init.sh");
  await writeFile(init, await readFile(fileURLToPath(new URL("./init.sh", import.meta.url))), { mode: 0o755 });
  for (const path of [share, tools.modules, tools.layer ?? "", tools.busybox, init]) {
    if (/[\s,]/.test(path)) {
      throw new DevNodeError("command", `${path} holds a space or a comma, which a kernel command line cannot carry`);
    }
  }
  const parameters = [
    `mem=${options.memoryMiB}M`,
    ...["root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", `init=${init}`],
    ...[`SHARE=${share}`, `LAYER=${tools.layer ?? "none"}`, `MODULES=${tools.modules}`, `BUSYBOX=${tools.busybox}`],
    ...["con=null", "con0=fd:0,fd:1", "quiet", `uml_dir=${work}`],
    ...["systemd.unified_cgroup_hierarchy=1", "systemd.show_status=0"],
  ];
  const console = await open(join(work, "console"), "w");
  const child = spawn(tools.kernel, parameters, {
    stdio: ["ignore", console.fd, console.fd],
    // A process group of its own: the guest's processes are processes of the machine, and end with the group.
    detached: true,
    cwd: work,
    env: { TMPDIR: "/dev/shm" },
  });
  await console.close();
  const killScript = 'kill -KILL -- "-$1"; rm -rf "$2"';
  const guardian = startGuardian(["/bin/sh", "-c", killScript, "guardian", String(child.pid), work]);
  try {
    const end = await waitForEnd(child, options);
    if (end !== "exited") {
      const output = await readFile(join(share, "output"), "utf8").catch(() => "");
      const why = end === "aborted" ? "was killed on request" : `did not end within ${options.timeoutMs} ms`;
      throw new DevNodeError("command", `the guest ${why}. Its output so far:\n${output.slice(-3000)}`);
    }
  } finally {
    killGroup(child);
    guardian.release();
  }
}

function killGroup(child: ChildProcess): void {
  try {
    process.kill(-(child.pid ?? Number.NaN), "SIGKILL");
  } catch {
    // The group is gone, or never was.
  }
}

/** Resolves once no process of the guest's kernel is left, or once it is to be killed. */
function waitForEnd(child: ChildProcess, options: BootOptions): Promise<"exited" | "timedOut" | "aborted"> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve("timedOut"), options.timeoutMs);
    const abort = (): void => {
      clearTimeout(timer);
      resolve("aborted");
    };
    options.signal?.addEventListener("abort", abort, { once: true });
    if (options.signal?.aborted === true) {
      abort();
    }
    const settle = (action: () => void): void => {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", abort);
      action();
    };
    child.once("error", (error) =>
      settle(() => reject(new DevNodeError("command", `cannot start the guest: ${error.message}`, { cause: error }))),
    );
    child.once("exit", () => settle(() => resolve("exited")));
  });
}
