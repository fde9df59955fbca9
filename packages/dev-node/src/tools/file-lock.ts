import { readFile, rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { DevNodeError } from "../errors.ts";
import { createExclusively } from "../exclusive-file.ts";
import { identifyProcess, isAlive, type Log, type ProcessIdentity } from "../processes.ts";

/** How {@link withFileLock} waits. */
export interface FileLockOptions {
  path: string;
  /** Gives up with a `tool` error after this long. */
  timeoutMs: number;
  log: Log;
}

/**
 * Runs `action` while this process holds the lock file. A lock whose holder died is taken over.
 * The lock saves double work; what it guards is also published by one atomic rename, so that two holders
 * (possible when two processes take over one dead lock at the same instant) do no harm.
 */
export async function withFileLock<T>(options: FileLockOptions, action: () => Promise<T>): Promise<T> {
  await acquire(options);
  try {
    return await action();
  } finally {
    await rm(options.path, { force: true });
  }
}

async function acquire(options: FileLockOptions): Promise<void> {
  const self = await identifyProcess(process.pid);
  const end = performance.now() + options.timeoutMs;
  let told = false;
  for (;;) {
    if (await createExclusively(options.path, JSON.stringify(self))) {
      return;
    }
    const holder = await readHolder(options.path);
    if (holder !== undefined && !(await isAlive(holder))) {
      await rm(options.path, { force: true });
      continue;
    }
    if (performance.now() > end) {
      throw new DevNodeError(
        "tool",
        `${options.path} is held by process ${holder?.pid ?? "unknown"}: end it or remove the file`,
      );
    }
    if (!told) {
      options.log(`waiting for process ${holder?.pid ?? "unknown"}, which does the same work`);
      told = true;
    }
    await sleep(50);
  }
}

/** Undefined when the lock was given back meanwhile. */
async function readHolder(path: string): Promise<ProcessIdentity | undefined> {
  const text = await readFile(path, "utf8").catch(() => "");
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && "pid" in value && "startTicks" in value) {
      return { pid: Number(value.pid), startTicks: String(value.startTicks) };
    }
  } catch {
    return undefined;
  }
  return undefined;
}
