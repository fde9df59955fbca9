import { existsSync } from "node:fs";
import { mkdir, readFile, rmdir, writeFile } from "node:fs/promises";

const TREE = "/sys/fs/cgroup/cpuacct";

/**
 * CPU time of a private runtime with all that it starts, measured by cgroups of version 1: the daemon is put into a cgroup of its own, and what runs
 * in the node's pod cgroups is added. Wall time on a busy machine says little; this says what the work costs whatever else runs.
 */
export class RuntimeCpu {
  readonly #own: string;
  readonly #pods: string;

  private constructor(options: { readonly own: string; readonly pods: string }) {
    this.#own = options.own;
    this.#pods = options.pods;
  }

  /** Undefined where there is no such tree. */
  static async open(options: {
    readonly daemonPid: number;
    readonly cgroupRoot: string;
  }): Promise<RuntimeCpu | undefined> {
    if (!existsSync(`${TREE}/cpuacct.usage`)) return undefined;
    const own = `${TREE}/nodelet-bench-${process.pid}`;
    await mkdir(own, { recursive: true });
    await writeFile(`${own}/cgroup.procs`, String(options.daemonPid));
    return new RuntimeCpu({ own, pods: `${TREE}/${options.cgroupRoot}` });
  }

  /** Milliseconds so far. */
  async usedMs(): Promise<number> {
    const [daemon, pods] = await Promise.all([this.#own, this.#pods].map(usageMs));
    return (daemon ?? 0) + (pods ?? 0);
  }

  /** Puts what still runs back where it came from, and removes the cgroup. */
  async close(): Promise<void> {
    const processes = (await readFile(`${this.#own}/cgroup.procs`, "utf8")).split("\n").filter((pid) => pid !== "");
    // One that has just ended cannot be moved any more.
    for (const pid of processes) await writeFile(`${TREE}/cgroup.procs`, pid).catch(() => undefined);
    await rmdir(this.#own);
  }
}

async function usageMs(cgroup: string): Promise<number> {
  const text = await readFile(`${cgroup}/cpuacct.usage`, "utf8").catch(() => "0");
  return Number(text) / 1e6;
}
