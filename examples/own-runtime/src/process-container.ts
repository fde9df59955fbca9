import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { type ContainerConfig, type CriContainerStatus, type Image, NodeletError } from "@nodelet/core";
import { CriLog } from "./cri-log.ts";
import { nowNs } from "./now.ts";

/** What a container is made from. */
export interface ContainerParts {
  readonly id: string;
  readonly sandboxId: string;
  readonly config: ContainerConfig;
  readonly image: Image;
  /** Runs when the configuration names no command. */
  readonly program: string;
  /** Absolute path of the log. */
  readonly logPath: string;
  readonly onEnd: () => void;
}

const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/**
 * Process 1 of a container is immune to signals that it has no handler for; an ordinary process dies of them. A young process gets this time
 * to set its handlers before the stop signal comes.
 */
const HANDLER_TIME_MS = 500;

/** One container: a process with its children, a log, and what became of them. CREATED, RUNNING, EXITED. */
export class ProcessContainer {
  readonly parts: ContainerParts;
  readonly #createdAtNs = nowNs();
  #state: CriContainerStatus["state"] = "CONTAINER_CREATED";
  #startedAtNs = 0n;
  #finishedAtNs = 0n;
  #exitCode = 0;
  #reason = "";
  #message = "";
  #child: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();

  constructor(parts: ContainerParts) {
    this.parts = parts;
  }

  get state(): CriContainerStatus["state"] {
    return this.#state;
  }

  status(): CriContainerStatus {
    const { id, config, image, logPath } = this.parts;
    return {
      id,
      metadata: config.metadata,
      state: this.#state,
      createdAtNs: this.#createdAtNs,
      startedAtNs: this.#startedAtNs,
      finishedAtNs: this.#finishedAtNs,
      exitCode: this.#exitCode,
      image: { image: image.repoTags[0] ?? image.id },
      imageRef: image.id,
      imageId: image.id,
      reason: this.#reason,
      message: this.#message,
      labels: config.labels ?? {},
      annotations: config.annotations ?? {},
      mounts: [],
      logPath,
    };
  }

  /** Starts the process, once. A program that cannot be started leaves the container EXITED with reason StartError. */
  async start(): Promise<void> {
    if (this.#state !== "CONTAINER_CREATED" || this.#child !== undefined)
      throw new NodeletError("conflict", `container ${this.parts.id} is ${this.#state}, not CONTAINER_CREATED`);
    const { config, program, logPath } = this.parts;
    const [command = program, ...args] = [...(config.command ?? []), ...(config.args ?? [])];
    const user = config.linux?.securityContext;
    const child = spawn(command, args, {
      cwd: config.workingDir || "/",
      env: { PATH: DEFAULT_PATH, ...Object.fromEntries((config.envs ?? []).map(({ key, value }) => [key, value])) },
      // A process group of its own: the children end with the container.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      ...(user?.runAsUser !== undefined && { uid: Number(user.runAsUser) }),
      ...(user?.runAsGroup !== undefined && { gid: Number(user.runAsGroup) }),
    });
    this.#child = child;
    const failure = await new Promise<Error | undefined>((resolve) => {
      child.once("spawn", () => resolve(undefined));
      child.once("error", resolve);
    });
    if (failure !== undefined) {
      this.#message = `cannot start ${command}: ${failure.message}`;
      this.#finish({ exitCode: 128, reason: "StartError" });
      throw new NodeletError("internal", this.#message, { cause: failure });
    }
    this.#startedAtNs = nowNs();
    this.#state = "CONTAINER_RUNNING";
    this.#ended = this.#watch(child, logPath);
  }

  /** Signal, grace, kill. Resolves once the process ended; when the signal fires it is left as it is. */
  async stop(options: { readonly timeoutSeconds: number; readonly signal?: AbortSignal }): Promise<void> {
    if (this.#state !== "CONTAINER_RUNNING") return;
    const { timeoutSeconds, signal } = options;
    if (timeoutSeconds > 0) {
      const ageMs = Number((nowNs() - this.#startedAtNs) / 1_000_000n);
      await this.#endWithin(Math.max(0, HANDLER_TIME_MS - ageMs), signal);
      if (this.#state === "CONTAINER_RUNNING") this.#child?.kill("SIGTERM");
      await this.#endWithin(timeoutSeconds * 1000, signal);
    }
    await this.kill();
  }

  /** Kills the process and its children; resolves once they ended. */
  async kill(): Promise<void> {
    if (this.#state === "CONTAINER_RUNNING") this.#killGroup();
    await this.#ended;
  }

  async #endWithin(limitMs: number, signal: AbortSignal | undefined): Promise<void> {
    const timer = new AbortController();
    const stop = signal === undefined ? timer.signal : AbortSignal.any([signal, timer.signal]);
    await Promise.race([this.#ended, delay(limitMs, undefined, { signal: stop }).catch(() => undefined)]);
    timer.abort();
    if (signal?.aborted) throw new NodeletError("cancelled", `stopping container ${this.parts.id} was given up`);
  }

  async #watch(child: ChildProcess, logPath: string): Promise<void> {
    const copied = copyOutput(child, logPath);
    const [code, signalName] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
      child.once("exit", (...end) => resolve(end)),
    );
    this.#killGroup();
    await copied;
    // 128 and the signal's number, as shells and runtimes count it.
    const exitCode = code ?? 128 + constants.signals[signalName ?? "SIGKILL"];
    this.#finish({ exitCode, reason: exitCode === 0 ? "Completed" : "Error" });
  }

  #finish(end: { readonly exitCode: number; readonly reason: string }): void {
    this.#exitCode = end.exitCode;
    this.#reason = end.reason;
    this.#finishedAtNs = nowNs();
    this.#state = "CONTAINER_EXITED";
    this.parts.onEnd();
  }

  #killGroup(): void {
    try {
      if (this.#child?.pid !== undefined) process.kill(-this.#child.pid, "SIGKILL");
    } catch {
      // Nobody is left in the group.
    }
  }
}

/** A log that cannot be written loses the output and nothing else. */
async function copyOutput(child: ChildProcess, logPath: string): Promise<void> {
  const streams = [child.stdout, child.stderr] as [Readable, Readable];
  try {
    const log = await CriLog.open(logPath);
    try {
      await Promise.all([log.copy(streams[0], "stdout"), log.copy(streams[1], "stderr")]);
    } finally {
      await log.close();
    }
  } catch {
    for (const stream of streams) stream.resume();
  }
}
