import { execFile } from "node:child_process";
import { readdir, readFile, readlink } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { DevNodeError } from "./errors.ts";

/** A sink for progress lines, without line ends. */
export type Log = (line: string) => void;

/** How a command is run by {@link runCommand}. */
export interface CommandOptions {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** The command is killed after this long. Default 60 s. */
  timeoutMs?: number;
}

/** What a command printed, both streams bounded to 16 MiB. */
export interface CommandOutput {
  stdout: string;
  stderr: string;
}

/**
 * Runs a program without a shell and resolves with what it printed.
 * Rejects with a `command` error that carries the end of its error output when it fails or takes too long.
 */
export function runCommand(
  command: readonly [string, ...string[]],
  options: CommandOptions = {},
): Promise<CommandOutput> {
  const [file, ...args] = command;
  const timeoutMs = options.timeoutMs ?? 60_000;
  return new Promise((resolve, reject) => {
    execFile(
      file,
      args,
      { cwd: options.cwd, env: options.env, timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error === null) {
          resolve({ stdout, stderr });
          return;
        }
        const why = error.killed === true ? `did not end within ${timeoutMs} ms` : `failed (${String(error.code)})`;
        const detail = stderr.trim().slice(-2000) || stdout.trim().slice(-2000);
        reject(new DevNodeError("command", `${command.join(" ")} ${why}: ${detail}`, { cause: error }));
      },
    );
  });
}

/**
 * A process that cannot be mistaken for a later one with the same id:
 * `startTicks` is field 22 of /proc/PID/stat, the start time in clock ticks since boot (proc(5)).
 */
export interface ProcessIdentity {
  pid: number;
  startTicks: string;
}

/** The identity of a process that exists now (zombies count as gone), or undefined. */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) {
    return undefined;
  }
  // The command name in parentheses may hold spaces and parentheses itself: fields count from the last one.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, startTicks] = [fields[0], fields[19]];
  return startTicks === undefined || state === "Z" || state === "X" ? undefined : { pid, startTicks };
}

/** Whether exactly this process is still there. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  return (await identifyProcess(identity.pid))?.startTicks === identity.startTicks;
}

/** Sends a signal to exactly this process; false when it is gone. */
export async function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): Promise<boolean> {
  if (!(await isAlive(identity))) {
    return false;
  }
  try {
    process.kill(identity.pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** Waits until the process is gone; false when it is still there after the time. */
export async function waitForExit(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const end = performance.now() + timeoutMs;
  while (await isAlive(identity)) {
    if (performance.now() > end) {
      return false;
    }
    await sleep(10);
  }
  return true;
}

/** A process as {@link listProcesses} sees it. `cwd` is undefined where it cannot be read. */
export interface ProcessInfo extends ProcessIdentity {
  argv: readonly string[];
  cwd: string | undefined;
}

/** Every process of this PID namespace that can be read; kernel threads have an empty `argv`. */
export async function listProcesses(): Promise<ProcessInfo[]> {
  const found: ProcessInfo[] = [];
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) {
      continue;
    }
    const identity = await identifyProcess(Number(name));
    if (identity === undefined) {
      continue;
    }
    const cmdline = await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "");
    const cwd = await readlink(`/proc/${name}/cwd`).catch(() => undefined);
    found.push({ ...identity, argv: cmdline.split("\0").slice(0, -1), cwd });
  }
  return found;
}
