import { statfs } from "node:fs/promises";
import { hostname, networkInterfaces, release } from "node:os";
import { type Machine, type MachineInfo, NodeletError } from "@nodelet/core";
import { isAbsent, readPathBounded, withDirectory } from "@nodelet/lib-safe-fs";
import { hostCall } from "../errors/host-error.ts";
import { lookUpBounded } from "./name-lookup.ts";
import { chooseNodeIps, type InterfaceAddress, type NodeIpFacts } from "./node-ips.ts";
import { countCpus, parseHugepageSize, parseKilobytes } from "./proc-files.ts";

/** statfs(2) f_type of a cgroup v2 mount. */
const CGROUP2_SUPER_MAGIC = 0x63677270;
const MAX_PROC_BYTES = 4 * 1024 * 1024;
const LOOKUP_TIMEOUT_MS = 1_000;
/** Go's names, as in node info, of Node's process.arch. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/** How the machine is looked at. */
export interface LinuxMachineOptions {
  /** The node's name when it is not the host name (--hostname-override): addresses are looked up by it. */
  readonly nodeName?: string;
  /** --node-ip. Addresses win over what would be found; `0.0.0.0` and `::` only choose the family. */
  readonly nodeIps?: readonly string[];
  /** Folder that stands for `/`: where /proc, /sys and /etc are read. */
  readonly root?: string;
  readonly interfaces?: () => readonly InterfaceAddress[];
  readonly lookUp?: (name: string) => Promise<readonly string[]>;
  readonly fileSystemType?: (path: string) => Promise<number>;
  readonly hostname?: () => string;
}

/** The Linux machine that this process runs on. */
export class LinuxMachine implements Machine {
  readonly #options: LinuxMachineOptions;
  readonly #root: string;

  constructor(options: LinuxMachineOptions = {}) {
    this.#options = options;
    this.#root = options.root ?? "";
  }

  async info(options: { readonly signal?: AbortSignal } = {}): Promise<MachineInfo> {
    return hostCall({ what: "cannot read the facts of this machine", signal: options.signal }, () => this.#read());
  }

  async #read(): Promise<MachineInfo> {
    const name = this.#hostname();
    const memory = await this.#text("/proc/meminfo");
    const cpuinfo = await this.#text("/proc/cpuinfo");
    return {
      hostname: name,
      cpuCores: countCpus(cpuinfo),
      memoryBytes: parseKilobytes(memory, "MemTotal"),
      swapBytes: parseKilobytes(memory, "SwapTotal"),
      cgroupVersion: await this.#cgroupVersion(),
      hugepageSizesBytes: await this.#hugepageSizes(),
      bootId: (await this.#firstText(["/proc/sys/kernel/random/boot_id"])).trim(),
      machineId: (await this.#firstText(["/etc/machine-id", "/var/lib/dbus/machine-id"])).trim(),
      nodeIps: await this.#nodeIps(this.#options.nodeName ?? name),
      os: "linux",
      kernelVersion: release(),
      appArmor: await this.#appArmor(),
      architecture: ARCHITECTURES[process.arch] ?? process.arch,
    };
  }

  /** Lower case without blanks around it: the form of a node's name. */
  #hostname(): string {
    const name = (this.#options.hostname ?? hostname)().trim().toLowerCase();
    if (name === "") throw new NodeletError("invalid", "the host name is empty: set one, or give --hostname-override");
    return name;
  }

  /** Only a cgroup2 file system at the root means version 2: in the hybrid layout the controllers are on version 1. */
  async #cgroupVersion(): Promise<1 | 2> {
    const typeOf = this.#options.fileSystemType ?? (async (path: string) => (await statfs(path)).type);
    return (await typeOf(`${this.#root}/sys/fs/cgroup`)) === CGROUP2_SUPER_MAGIC ? 2 : 1;
  }

  async #hugepageSizes(): Promise<readonly bigint[]> {
    try {
      const entries = await withDirectory({ root: `${this.#root}/sys/kernel/mm/hugepages` }, (folder) => folder.list());
      const sizes = entries.flatMap((entry) => parseHugepageSize(entry.name) ?? []);
      return sizes.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    } catch (error) {
      if (isAbsent(error)) return [];
      throw error;
    }
  }

  async #appArmor(): Promise<boolean> {
    const enabled = await this.#firstText(["/sys/module/apparmor/parameters/enabled"]);
    return enabled.startsWith("Y");
  }

  async #nodeIps(nodeName: string): Promise<readonly string[]> {
    const lookUp = this.#options.lookUp ?? ((name: string) => lookUpBounded({ name, timeoutMs: LOOKUP_TIMEOUT_MS }));
    const facts: NodeIpFacts = {
      configured: this.#options.nodeIps ?? [],
      interfaces: (this.#options.interfaces ?? systemInterfaces)(),
      ipv4Routes: await this.#firstText(["/proc/net/route"]),
      ipv6Routes: await this.#firstText(["/proc/net/ipv6_route"]),
      lookedUp: () => lookUp(nodeName),
    };
    return chooseNodeIps(facts);
  }

  async #text(path: string): Promise<string> {
    return (await readPathBounded({ path: `${this.#root}${path}`, maxBytes: MAX_PROC_BYTES })).toString("utf8");
  }

  /** Text of the first of the files that exists, else empty. */
  async #firstText(paths: readonly string[]): Promise<string> {
    for (const path of paths) {
      try {
        return await this.#text(path);
      } catch (error) {
        if (!isAbsent(error)) throw error;
      }
    }
    return "";
  }
}

function systemInterfaces(): readonly InterfaceAddress[] {
  return Object.entries(networkInterfaces()).flatMap(([name, addresses]) =>
    (addresses ?? []).map(({ address }) => ({ name, address })),
  );
}
