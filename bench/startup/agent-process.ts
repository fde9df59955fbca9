import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Pod } from "@nodelet/core";
import { cpuTimeMs, residentMegabytes } from "./process-usage.ts";
import { type BenchPod, manifestOf } from "./workload.ts";

/** Where and how the agent runs. */
export interface AgentProcessOptions {
  readonly endpoint: string;
  /** Top-level cgroup of the node. */
  readonly cgroupRoot: string;
  /** A folder of its own, removed at the end. */
  readonly dir: string;
  /** Program and first arguments. */
  readonly command: readonly string[];
}

const HEALTHY_WITHIN_MS = 60_000;
const SHOWN_WITHIN_MS = 300_000;
const LOOK_AGAIN_MS = 20;

/** The node agent as users run it: a process with flags, a configuration file and a directory of manifests. */
export class AgentProcess {
  readonly #options: AgentProcessOptions;
  readonly #process: ChildProcess;
  readonly #ports: { readonly health: number; readonly readOnly: number };
  readonly #exit: Promise<string>;
  /** Milliseconds from the start of the process until /healthz said ok. */
  readonly healthyMs: number;

  private constructor(parts: {
    options: AgentProcessOptions;
    process: ChildProcess;
    ports: { health: number; readOnly: number };
    exit: Promise<string>;
    healthyMs: number;
  }) {
    this.#options = parts.options;
    this.#process = parts.process;
    this.#ports = parts.ports;
    this.#exit = parts.exit;
    this.healthyMs = parts.healthyMs;
  }

  /** Starts the agent with no pods and waits until it is healthy. */
  static async start(options: AgentProcessOptions): Promise<AgentProcess> {
    const { dir } = options;
    await mkdir(`${dir}/manifests`, { recursive: true });
    const config = {
      apiVersion: "kubelet.config.k8s.io/v1beta1",
      kind: "KubeletConfiguration",
      podLogsDir: `${dir}/logs`,
      cgroupRoot: `/${options.cgroupRoot}`,
      cgroupDriver: "cgroupfs",
      clusterDNS: ["10.96.0.10"],
      clusterDomain: "cluster.local",
    };
    await writeFile(`${dir}/config.json`, JSON.stringify(config));
    const ports = { health: await freePort(), readOnly: await freePort() };
    const [program = "", ...first] = options.command;
    const log = openSync(`${dir}/agent.log`, "a");
    const beganMs = performance.now();
    const child = spawn(program, [...first, ...flagsOf(options, ports)], { stdio: ["ignore", log, log] });
    closeSync(log);
    const exit = new Promise<string>((resolve) => {
      child.once("error", (error) => resolve(error.message));
      child.once("exit", (code, signal) => resolve(`exit code ${code ?? signal}`));
    });
    try {
      await healthy(ports.health, exit);
    } catch (error) {
      child.kill("SIGKILL");
      const tail = (await readFile(`${dir}/agent.log`, "utf8")).split("\n").slice(-20).join("\n");
      throw new Error(`the agent did not become healthy; the end of its log:\n${tail}`, { cause: error });
    }
    return new AgentProcess({ options, process: child, ports, exit, healthyMs: performance.now() - beganMs });
  }

  get pid(): number {
    const { pid } = this.#process;
    if (pid === undefined) throw new Error("the agent did not start");
    return pid;
  }

  cpuTimeMs(): Promise<number> {
    return cpuTimeMs(this.pid);
  }

  residentMegabytes(): Promise<number> {
    return residentMegabytes(this.pid);
  }

  /** Puts the manifests there, each at once. They are written before the clock runs; answers when the first one was there. */
  async addManifests(pods: readonly BenchPod[]): Promise<number> {
    const { dir } = this.#options;
    for (const pod of pods) await writeFile(`${dir}/${pod.name}.yaml`, manifestOf(pod));
    const beganMs = performance.now();
    for (const pod of pods) await rename(`${dir}/${pod.name}.yaml`, `${dir}/manifests/${pod.name}.yaml`);
    return beganMs;
  }

  /** Takes the manifests away; answers when it began. */
  async removeManifests(pods: readonly BenchPod[]): Promise<number> {
    const beganMs = performance.now();
    for (const pod of pods) await rm(`${this.#options.dir}/manifests/${pod.name}.yaml`);
    return beganMs;
  }

  /** Waits until the agent itself shows so many pods as Running; answers when. */
  async showsRunning(count: number): Promise<number> {
    return this.#shows((pods) => pods.filter((pod) => pod.status?.phase === "Running").length === count);
  }

  /** Waits until the agent shows no pod any more; answers when. */
  async showsNothing(): Promise<number> {
    return this.#shows((pods) => pods.length === 0);
  }

  /** Ends the agent, not its pods. */
  async stop(): Promise<void> {
    this.#process.kill("SIGTERM");
    const ended = await Promise.race([this.#exit, sleep(10_000, undefined, { ref: false })]);
    if (ended === undefined) {
      this.#process.kill("SIGKILL");
      await this.#exit;
    }
    await rm(this.#options.dir, { recursive: true, force: true });
  }

  async #shows(fits: (pods: readonly Pod[]) => boolean): Promise<number> {
    const endMs = performance.now() + SHOWN_WITHIN_MS;
    for (;;) {
      const pods = await this.#pods();
      const nowMs = performance.now();
      if (fits(pods)) return nowMs;
      if (nowMs > endMs)
        throw new Error(`the agent still shows ${pods.length} pods: ${JSON.stringify(pods).slice(0, 4000)}`);
      await sleep(LOOK_AGAIN_MS);
    }
  }

  async #pods(): Promise<readonly Pod[]> {
    const response = await fetch(`http://127.0.0.1:${this.#ports.readOnly}/pods`);
    return ((await response.json()) as { items: Pod[] | null }).items ?? [];
  }
}

function flagsOf(options: AgentProcessOptions, ports: { health: number; readOnly: number }): readonly string[] {
  const { dir, endpoint } = options;
  return [
    `--config=${dir}/config.json`,
    `--root-dir=${dir}/root`,
    `--pod-manifest-path=${dir}/manifests`,
    `--container-runtime-endpoint=${endpoint}`,
    `--healthz-port=${ports.health}`,
    `--read-only-port=${ports.readOnly}`,
    `--container-links-dir=${dir}/links`,
    "--hostname-override=bench",
  ];
}

async function healthy(port: number, exit: Promise<string>): Promise<void> {
  const endMs = performance.now() + HEALTHY_WITHIN_MS;
  let ended: string | undefined;
  void exit.then((why) => {
    ended = why;
  });
  while (performance.now() < endMs) {
    if (ended !== undefined) throw new Error(`it ended: ${ended}`);
    const response = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
    if (response?.ok === true) return;
    await sleep(5);
  }
  throw new Error(`/healthz did not answer within ${HEALTHY_WITHIN_MS} ms`);
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
