import { spawn } from "node:child_process";
import { mkdir, open, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { DevNodeError } from "../errors.ts";
import { type Guardian, startGuardian } from "../guardian.ts";
import { standardImages } from "../images/standard-images.ts";
import {
  type CommandOutput,
  identifyProcess,
  type Log,
  type ProcessIdentity,
  runCommand,
  signalProcess,
  waitForExit,
} from "../processes.ts";
import {
  type ContainerdTool,
  type ContainerdVersion,
  defaultCacheDir,
  ensureTools,
  readContainerdTool,
  type Tools,
} from "../tools/ensure-tools.ts";
import { renderContainerdConfig } from "./config.ts";
import { openCriProbe } from "./cri-probe.ts";
import { waitForImages } from "./image-import.ts";
import { type Leftover, type LeftoverOptions, listLeftovers } from "./leftovers.ts";
import { describeFolders, type NodeRecord, writeNodeRecord } from "./node-record.ts";
import { createBridge, type PodNetworkFeatures, renderCniConfig } from "./pod-network.ts";
import { prepareDirectory } from "./prepare-directory.ts";
import { chooseSnapshotter } from "./snapshotter.ts";
import { reap, reapDead, tearDown, withDirectoryLock } from "./teardown.ts";

/** How {@link startContainerd} makes a node. */
export interface StartContainerdOptions {
  /** A family that {@link ensureTools} provides, or a folder with `containerd`, its runc shim and `ctr`. */
  version: ContainerdVersion | { binDir: string };
  /** A directory that is absent or empty; what a dead earlier node left in it is taken down first. Removed at stop. */
  dir: string;
  /** Name of the top-level cgroup for agents on this node. Default: one of its own, "nodelet-…". */
  cgroupRoot?: string;
  /** Default false: the cgroupfs driver. */
  systemdCgroup?: boolean;
  /** Default: both off, since both put iptables rules on the machine. */
  network?: Partial<PodNetworkFeatures>;
  /** Default: whatever {@link ensureTools} finds or fetches. */
  tools?: Tools;
  cacheDir?: string;
  /** How long containerd may take to become ready. Default 30 s. */
  readyTimeoutMs?: number;
  log?: Log;
}

/** A private containerd that runs until {@link Containerd.stop}, or until the process that started it ends. */
export interface Containerd {
  /** "unix:///…/c.sock", for CRI. */
  readonly endpoint: string;
  readonly socketPath: string;
  /** What containerd says of itself: "2.1.9+unknown". */
  readonly version: string;
  /** The process that runs now; undefined after {@link Containerd.kill} until {@link Containerd.restart}. */
  readonly pid: number | undefined;
  readonly dir: string;
  readonly root: string;
  readonly state: string;
  readonly logPath: string;
  /** Top-level cgroup name for agents on this node. They should put their pods below it, so that it can be cleaned. */
  readonly cgroupRoot: string;
  readonly tools: Tools;
  readonly snapshotter: "overlayfs" | "native";
  /** Identifies the node to {@link listLeftovers}, also after it was stopped. */
  readonly record: NodeRecord;
  /** Runs `ctr` against this containerd. */
  ctr(args: readonly string[], options?: { timeoutMs?: number }): Promise<CommandOutput>;
  /** Imports an image archive into the CRI's namespace and waits until CRI shows every name in `names`. */
  importImages(archivePath: string, names: readonly string[]): Promise<void>;
  /** Sends a signal to the daemon alone; shims and containers go on. Waits for the end after SIGTERM and SIGKILL. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Ends the daemon if it runs, starts it on the same state, and waits until it is ready. */
  restart(): Promise<void>;
  /** What pods have on the machine at this moment. */
  listLeftovers(options?: LeftoverOptions): Promise<Leftover[]>;
  /** Ends everything and removes it, running pods included. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Starts a private containerd with its own root, state, socket, CNI network and cgroup root, and waits until CRI says
 * that runtime and network are ready. Several can run at once. When this process dies without {@link Containerd.stop},
 * a guardian takes the node down; if that dies too, the next start on this machine does.
 */
export async function startContainerd(options: StartContainerdOptions): Promise<Containerd> {
  const log = options.log ?? (() => {});
  const dir = resolve(options.dir);
  const { tools, tool } = await chooseTool(options, log);
  await reapDead(log);
  if (await reap(dir)) {
    log(`took down what a dead process left in ${dir}`);
  }
  const record = await withDirectoryLock(dir, () => prepareDirectory({ dir, tools, cgroupRoot: options.cgroupRoot }));
  const node = new ContainerdNode({ record, tools, tool, options, snapshotter: await chooseSnapshotter(dir) });
  try {
    await node.begin();
    return node;
  } catch (error) {
    await node.stop().catch((cause: unknown) => log(String(cause)));
    throw error;
  }
}

async function chooseTool(options: StartContainerdOptions, log: Log): Promise<{ tools: Tools; tool: ContainerdTool }> {
  const { version } = options;
  const cacheDir = options.cacheDir ?? defaultCacheDir;
  const versions = typeof version === "string" ? [version] : [];
  const tools = options.tools ?? (await ensureTools({ versions, cacheDir, log }));
  const tool =
    typeof version === "string" ? tools.containerd[version] : await readContainerdTool(resolve(version.binDir));
  if (tool === undefined) {
    const what =
      typeof version === "string"
        ? `containerd ${version} is not among the given tools`
        : `${version.binDir} holds no working containerd`;
    throw new DevNodeError("tool", what);
  }
  return { tools, tool };
}

interface NodeOptions {
  record: NodeRecord;
  tools: Tools;
  tool: ContainerdTool;
  options: StartContainerdOptions;
  snapshotter: "overlayfs" | "native";
}

class ContainerdNode implements Containerd {
  readonly endpoint: string;
  readonly socketPath: string;
  readonly version: string;
  readonly dir: string;
  readonly root: string;
  readonly state: string;
  readonly logPath: string;
  readonly cgroupRoot: string;
  readonly tools: Tools;
  readonly snapshotter: "overlayfs" | "native";
  #record: NodeRecord;
  #guardian: Guardian | undefined;
  #stopping: Promise<void> | undefined;
  readonly #tool: ContainerdTool;
  readonly #options: StartContainerdOptions;

  constructor({ record, tools, tool, options, snapshotter }: NodeOptions) {
    const folders = describeFolders(record.dir);
    this.endpoint = `unix://${record.socketPath}`;
    this.socketPath = record.socketPath;
    this.version = tool.version;
    this.dir = record.dir;
    this.root = folders.root;
    this.state = folders.state;
    this.logPath = folders.log;
    this.cgroupRoot = record.cgroupRoot;
    this.tools = tools;
    this.snapshotter = snapshotter;
    this.#record = record;
    this.#tool = tool;
    this.#options = options;
  }

  get record(): NodeRecord {
    return this.#record;
  }

  get pid(): number | undefined {
    return this.#record.containerd?.pid;
  }

  /** Writes the configuration, makes the bridge, and starts the daemon for the first time. */
  async begin(): Promise<void> {
    const main = fileURLToPath(new URL("../main.ts", import.meta.url));
    this.#guardian = startGuardian([process.execPath, main, "reap", "--dir", this.dir]);
    const folders = describeFolders(this.dir);
    const { network = {}, systemdCgroup = false } = this.#options;
    const features = { masquerade: network.masquerade ?? false, portMap: network.portMap ?? false };
    for (const folder of [folders.cniConf, folders.ipam, folders.registries]) {
      await mkdir(folder, { recursive: true });
    }
    const cni = renderCniConfig({ network: this.#record.network, ipamDir: folders.ipam, features });
    await writeFile(join(folders.cniConf, "10-pods.conflist"), cni);
    const config = renderContainerdConfig({
      major: Number(this.version.split(".")[0]),
      socketPath: this.socketPath,
      rootDir: folders.root,
      stateDir: folders.state,
      runcRoot: folders.runc,
      runc: this.tools.runc,
      sandboxImage: standardImages.pause,
      snapshotter: this.snapshotter,
      cniBinDir: this.tools.cniBinDir,
      cniConfDir: folders.cniConf,
      registryDir: folders.registries,
      systemdCgroup,
    });
    await writeFile(folders.config, config);
    await createBridge(this.tools.busybox, this.#record.network);
    await this.#launch();
  }

  async ctr(args: readonly string[], options: { timeoutMs?: number } = {}): Promise<CommandOutput> {
    return runCommand([join(this.#tool.binDir, "ctr"), "--address", this.socketPath, ...args], options);
  }

  async importImages(archivePath: string, names: readonly string[]): Promise<void> {
    await this.ctr(["-n", "k8s.io", "images", "import", "--snapshotter", this.snapshotter, archivePath]);
    const probe = openCriProbe({ socketPath: this.socketPath, timeoutMs: 5_000 });
    try {
      await waitForImages({ probe, names });
    } finally {
      probe.close();
    }
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    const { containerd } = this.#record;
    if (containerd === undefined) {
      return;
    }
    await signalProcess(containerd, signal);
    if (signal === "SIGKILL" || signal === "SIGTERM") {
      if (!(await waitForExit(containerd, 10_000))) {
        throw new DevNodeError(
          "command",
          `containerd (process ${containerd.pid}) did not end within 10 s of ${signal}`,
        );
      }
      await this.#remember(undefined);
    }
  }

  async restart(): Promise<void> {
    await this.kill("SIGTERM");
    await this.#launch();
  }

  async listLeftovers(options: LeftoverOptions = {}): Promise<Leftover[]> {
    return listLeftovers(this.#record, options);
  }

  async stop(): Promise<void> {
    this.#stopping ??= tearDown(this.#record).then(() => this.#guardian?.release());
    return this.#stopping;
  }

  async #remember(containerd: ProcessIdentity | undefined): Promise<void> {
    this.#record = { ...this.#record, containerd };
    await writeNodeRecord(this.#record);
  }

  async #launch(): Promise<void> {
    const { config, log } = describeFolders(this.dir);
    // A daemon that was killed leaves its socket, which a client would take for one that refuses.
    await rm(this.socketPath, { force: true });
    const output = await open(log, "a");
    const path = [
      this.#tool.binDir,
      dirname(this.tools.runc),
      "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    ];
    const child = spawn(join(this.#tool.binDir, "containerd"), ["--config", config], {
      stdio: ["ignore", output.fd, output.fd],
      // A session of its own: Ctrl-C on the terminal must reach the agent first, which stops the pods.
      detached: true,
      cwd: "/",
      env: { PATH: path.join(":"), HOME: "/root" },
    });
    child.unref();
    await output.close();
    const ended = new Promise<string>((done) => {
      child.on("error", (error) => done(error.message));
      child.on("exit", (code, signal) => done(`it ended with ${signal ?? `code ${code}`}`));
    });
    const identity = child.pid === undefined ? undefined : await identifyProcess(child.pid);
    await this.#remember(identity);
    await this.#waitUntilReady(ended);
  }

  async #waitUntilReady(ended: Promise<string>): Promise<void> {
    const timeoutMs = this.#options.readyTimeoutMs ?? 30_000;
    const end = performance.now() + timeoutMs;
    let failure: string | undefined;
    void ended.then((why) => {
      failure = why;
    });
    let last = "no answer yet";
    while (failure === undefined && performance.now() < end) {
      const probe = openCriProbe({ socketPath: this.socketPath, timeoutMs: 5_000 });
      try {
        const conditions = await probe.readConditions();
        if (conditions.get("RuntimeReady") === true && conditions.get("NetworkReady") === true) {
          return;
        }
        last = `conditions ${JSON.stringify(Object.fromEntries(conditions))}`;
      } catch (error) {
        last = error instanceof Error ? error.message : String(error);
        if (last.includes("gRPC status 12 ")) {
          // Plugins load before the socket is served, so a CRI that is not there will not come.
          failure = "its CRI plugin did not load";
        }
      } finally {
        probe.close();
      }
      await sleep(10);
    }
    const why = failure ?? `it was not ready within ${timeoutMs} ms (${last})`;
    const tail = (await readFile(this.logPath, "utf8").catch(() => "")).split("\n").slice(-15).join("\n");
    throw new DevNodeError("start", `containerd ${this.version} did not start: ${why}. The end of its log:\n${tail}`);
  }
}
