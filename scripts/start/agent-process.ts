import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ControlClient } from "@nodelet/http-server";
import { StartProblem } from "./demo-node.ts";
import type { Place } from "./place.ts";

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 20_000;
const LOG_LINES_SHOWN = 12;

/** The agent as a process of its own, as on a real node. */
export class AgentProcess {
  readonly client: ControlClient;
  /** Rejects with the end of its log when it ends unasked; never resolves. */
  readonly failure: Promise<never>;
  readonly #child: ChildProcess;
  readonly #ended: Promise<string>;
  #asked = false;

  private constructor(options: { readonly child: ChildProcess; readonly place: Place }) {
    const { child, place } = options;
    this.#child = child;
    this.client = new ControlClient({ socketPath: join(place.rootDir, "nodelet.sock") });
    this.#ended = once(child, "exit").then(([code, signal]) => `${signal ?? `exit code ${String(code)}`}`);
    this.failure = this.#ended.then(async (how) => {
      if (this.#asked) return new Promise<never>(() => {});
      throw new StartProblem(`the agent ended by itself (${how}). The end of its log:\n${await logTail(place)}`);
    });
    this.failure.catch(() => undefined);
  }

  /** Starts it and waits until it answers on its control socket. Throws a StartProblem with the end of its log when it does not. */
  static async start(options: {
    readonly root: string;
    readonly place: Place;
    readonly args: readonly string[];
  }): Promise<AgentProcess> {
    const { root, place, args } = options;
    const log = await open(place.logPath, "w");
    const [program = process.execPath, ...programArgs] = [
      ...diesWithUs(),
      process.execPath,
      `${root}/packages/cli/bin/nodelet.js`,
      ...args,
    ];
    const child = spawn(program, programArgs, {
      stdio: ["ignore", log.fd, log.fd],
      // A session of its own: Ctrl-C on the terminal is for us, who let it stop its pods first.
      detached: true,
      env: { ...process.env, NODE_OPTIONS: "" },
    });
    await log.close();
    child.on("error", () => undefined);
    const agent = new AgentProcess({ child, place });
    try {
      await Promise.race([agent.#untilAnswering(), agent.failure]);
      return agent;
    } catch (error) {
      await agent.stop();
      throw error;
    }
  }

  /** Ends it; pods that it has run on. Idempotent. */
  async stop(): Promise<void> {
    this.#asked = true;
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill("SIGTERM");
    const inTime = await Promise.race([this.#ended.then(() => true), sleep(STOP_TIMEOUT_MS, false, { ref: false })]);
    if (inTime) return;
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  async #untilAnswering(): Promise<void> {
    const endMs = performance.now() + START_TIMEOUT_MS;
    for (;;) {
      try {
        await this.client.status();
        return;
      } catch (error) {
        if (performance.now() > endMs) {
          throw new StartProblem(`the agent does not answer after ${START_TIMEOUT_MS / 1000} s`, { cause: error });
        }
      }
      await sleep(50);
    }
  }
}

/** A program to start the agent with, so that the kernel ends it when this process is killed: setpriv, where the machine has it. */
function diesWithUs(): readonly string[] {
  const path = ["/usr/bin/setpriv", "/bin/setpriv"].find((candidate) => existsSync(candidate));
  return path === undefined ? [] : [path, "--pdeathsig", "TERM"];
}

async function logTail(place: Place): Promise<string> {
  const text = await readFile(place.logPath, "utf8").catch(() => "");
  return text.trimEnd().split("\n").slice(-LOG_LINES_SHOWN).join("\n");
}
