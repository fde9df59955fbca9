import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { DecisionRecord, Pod } from "@nodelet/core";
import { ControlClient } from "@nodelet/http-server";

/** What an agent under test is given. */
export interface AgentOptions {
  readonly endpoint: string;
  /** A folder of its own for all that it reads and writes. */
  readonly dir: string;
  readonly cgroupRoot: string;
  /** The node's name, which static pods carry at the end of theirs. */
  readonly nodeName: string;
  /** Further flags for every start. */
  readonly flags?: readonly string[];
}

/** The folders of an agent. */
export interface AgentDirs {
  readonly root: string;
  readonly logs: string;
  readonly links: string;
  readonly manifests: string;
}

/** What the agent tells of itself over its control socket. */
export interface AgentStatus {
  readonly ready: boolean;
  readonly pid: number;
  readonly runtimeErrors: readonly string[];
  readonly networkError?: string;
  readonly syncLoop: boolean;
}

/** A name server and a search domain that no machine has, so that tests see whose resolv.conf a pod got. */
export const hostResolvConf = "search host.example\nnameserver 192.0.2.53\noptions ndots:2\n";
/** The cluster's name server and domain as the agent is told them; no machine has them. */
export const clusterDns = { server: "192.0.2.10", domain: "cluster.example" } as const;

const program = fileURLToPath(new URL("../../packages/cli/bin/nodelet.js", import.meta.url));
const START_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 30_000;

/** The real program in a process of its own, which ends with the process that started it. */
export class AgentUnderTest {
  readonly dirs: AgentDirs;
  readonly logPath: string;
  readonly nodeName: string;
  readonly #options: AgentOptions;
  #process: ChildProcess | undefined;
  #ended: Promise<string> = Promise.resolve("it was not started");
  #ports = { health: 0, readOnly: 0 };

  constructor(options: AgentOptions) {
    const { dir } = options;
    this.#options = options;
    this.nodeName = options.nodeName;
    this.dirs = {
      root: join(dir, "root"),
      logs: join(dir, "logs"),
      links: join(dir, "links"),
      manifests: join(dir, "manifests"),
    };
    this.logPath = join(dir, "agent.log");
  }

  /** The process that runs now. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Full name of the static pod that a manifest of this name becomes. */
  podName(name: string): string {
    return `${name}-${this.nodeName}`;
  }

  /** Starts the process and does not wait for anything. */
  async spawn(flags: readonly string[] = []): Promise<void> {
    if (this.#process !== undefined) throw new Error("the agent runs already");
    const { dir } = this.#options;
    await mkdir(this.dirs.manifests, { recursive: true });
    await writeFile(join(dir, "resolv.conf"), hostResolvConf);
    await writeFile(join(dir, "config.json"), JSON.stringify(this.#configuration()));
    this.#ports = { health: await freePort(), readOnly: await freePort() };
    const log = openSync(this.logPath, "a");
    // Dies with this process, however that ends; the process id stays the agent's through setpriv and the launcher.
    const command = ["--pdeathsig", "KILL", process.execPath, program, ...this.#flags(), ...flags];
    const child = spawn("setpriv", command, { stdio: ["ignore", log, log], cwd: "/" });
    closeSync(log);
    this.#process = child;
    this.#ended = new Promise((resolve) => {
      child.once("error", (error) => resolve(error.message));
      child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
    void this.#ended.then(() => {
      if (this.#process === child) this.#process = undefined;
    });
  }

  /** Starts the process and waits until the first pods were handed to their workers. */
  async start(flags: readonly string[] = []): Promise<void> {
    await this.spawn(flags);
    await this.whenReady();
  }

  /** Waits until the agent says that it is ready. Rejects when it ended instead. */
  async whenReady(): Promise<void> {
    const endMs = performance.now() + START_WITHIN_MS;
    while (this.#process !== undefined && performance.now() < endMs) {
      const status = await this.status().catch(() => undefined);
      if (status?.ready === true) return;
      await sleep(50);
    }
    const why = this.#process === undefined ? `it ended: ${await this.#ended}` : `not within ${START_WITHIN_MS} ms`;
    throw new Error(`the agent did not become ready: ${why}. The end of its log:\n${await this.logTail(30)}`);
  }

  /** Waits for the process to end by itself; answers "exit code 1" or a signal's name. */
  async ended(): Promise<string> {
    const ended = await Promise.race([this.#ended, sleep(STOP_WITHIN_MS, undefined, { ref: false })]);
    if (ended === undefined) throw new Error(`the agent still runs. The end of its log:\n${await this.logTail(30)}`);
    return ended;
  }

  /** Kills the agent where it stands. */
  async kill9(): Promise<void> {
    this.#process?.kill("SIGKILL");
    await this.#ended;
  }

  /** Stops the agent as an operator does; its pods run on. Answers how it ended. */
  async sigterm(): Promise<string> {
    this.#process?.kill("SIGTERM");
    return this.ended();
  }

  pods(): Promise<readonly Pod[]> {
    return this.#control().pods();
  }

  /** The pod of a manifest by the manifest's name; undefined when the agent shows none. */
  async pod(name: string): Promise<Pod | undefined> {
    const wanted = this.podName(name);
    return (await this.pods()).find(({ metadata }) => metadata?.name === wanted);
  }

  decisions(pod?: string): Promise<readonly DecisionRecord[]> {
    return this.#control().decisions(pod === undefined ? {} : { pod });
  }

  async status(): Promise<AgentStatus> {
    return (await this.#control().status()) as AgentStatus;
  }

  /** `GET` on the health or the read-only listener. */
  async get(listener: "health" | "readOnly", path: string): Promise<{ status: number; text: string }> {
    const response = await fetch(`http://127.0.0.1:${this.#ports[listener]}${path}`);
    return { status: response.status, text: await response.text() };
  }

  /** Puts a manifest into the directory in one step, as a careful tool does. Texts are written as they are. */
  async writeManifest(file: string, content: Pod | string): Promise<void> {
    const text = typeof content === "string" ? content : JSON.stringify(content);
    const temporary = join(this.#options.dir, `.${file}.new`);
    await writeFile(temporary, text);
    await rename(temporary, join(this.dirs.manifests, file));
  }

  async removeManifest(file: string): Promise<void> {
    await rm(join(this.dirs.manifests, file));
  }

  /** The whole log of all runs so far. */
  async log(): Promise<string> {
    return readFile(this.logPath, "utf8").catch(() => "");
  }

  async logTail(lines: number): Promise<string> {
    return (await this.log()).trimEnd().split("\n").slice(-lines).join("\n");
  }

  #control(): ControlClient {
    return new ControlClient({ socketPath: join(this.dirs.root, "nodelet.sock") });
  }

  #configuration(): unknown {
    return {
      apiVersion: "kubelet.config.k8s.io/v1beta1",
      kind: "KubeletConfiguration",
      podLogsDir: this.dirs.logs,
      resolvConf: join(this.#options.dir, "resolv.conf"),
      clusterDNS: [clusterDns.server],
      clusterDomain: clusterDns.domain,
      // A scan must not be what finds a change: the watch is tested too.
      fileCheckFrequency: "20s",
    };
  }

  #flags(): readonly string[] {
    const { dir, endpoint, cgroupRoot, nodeName, flags = [] } = this.#options;
    return [
      `--config=${join(dir, "config.json")}`,
      `--root-dir=${this.dirs.root}`,
      `--container-links-dir=${this.dirs.links}`,
      `--pod-manifest-path=${this.dirs.manifests}`,
      `--container-runtime-endpoint=${endpoint}`,
      `--cgroup-root=/${cgroupRoot}`,
      "--cgroup-driver=cgroupfs",
      `--hostname-override=${nodeName}`,
      "--address=127.0.0.1",
      `--healthz-port=${this.#ports.health}`,
      `--read-only-port=${this.#ports.readOnly}`,
      "--v=4",
      ...flags,
    ];
  }
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}
