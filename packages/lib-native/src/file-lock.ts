import { spawn } from "node:child_process";
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { makeDirectories } from "@nodelet/lib-safe-fs";
import { nativeCapabilities } from "./native-programs.ts";

/** What a holder tells about itself, for the message of those who come too late. */
export interface LockHolder {
  readonly pid: number;
  /** What the holder gave as `details`. */
  readonly details: Readonly<Record<string, string>>;
}

/** A lock, or who has it (undefined when the holder has not said so yet). */
export type LockOutcome =
  | { readonly held: true; readonly lock: FileLock }
  | { readonly held: false; readonly holder: LockHolder | undefined };

/** Which lock, and what its holder tells of itself. */
export interface AcquireLockOptions {
  /** The lock file; made with mode 0600 when absent. Its directory should be writable by the agent's user alone. */
  readonly path: string;
  readonly details: Readonly<Record<string, string>>;
  /** Makes missing parent directories with this mode. Without it their absence is an error (ENOENT). */
  readonly directoryMode?: number;
  /** Program to use in place of the flock that is found. */
  readonly flockPath?: string;
}

const CONFLICT_EXIT_CODE = 1;
const HELPER_TIMEOUT_MS = 5_000;
const MAX_HOLDER_BYTES = 4_096;

/** Thrown when this machine cannot lock at all. */
export class LockUnavailableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "LockUnavailableError";
  }
}

/**
 * Takes an exclusive lock that ends with the process, however it ends. Never waits for another holder.
 *
 * Node.js has no flock(2). The lock of flock(2) belongs to the open file description, which a child shares when it inherits the descriptor:
 * so the file is opened here, flock(1) is run on the inherited descriptor and exits, and the lock stays with ours. The kernel decides who
 * has it and drops it with our descriptor, at kill -9 too; no helper has to live on, nothing is judged stale, a reused pid means nothing.
 * (A unix socket as a lock needs a judgement of staleness, which two starters can make at once, and an abstract one may be taken by any
 * user and is seen in one network namespace only.)
 */
export async function acquireLock(options: AcquireLockOptions): Promise<LockOutcome> {
  const flockPath = options.flockPath ?? (await findFlock());
  if (options.directoryMode !== undefined) {
    makeDirectories(dirname(options.path), { mode: options.directoryMode });
  }
  // A holder that releases takes the file away: who then has locked the file that is gone starts again.
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const fd = openLockFile(options.path);
    let keep = false;
    try {
      if (!(await lockDescriptor({ fd, flockPath }))) return { held: false, holder: await readHolder(fd) };
      if (!isSameFile(fd, options.path)) continue;
      writeHolder(fd, { pid: process.pid, details: options.details });
      keep = true;
      return { held: true, lock: new FileLock(options.path, fd) };
    } finally {
      if (!keep) closeSync(fd);
    }
  }
  throw new LockUnavailableError(`${options.path}: the lock file is replaced again and again by somebody else`);
}

/** A lock that this process holds. It does not depend on being referenced: without `release` it ends with the process. */
export class FileLock {
  readonly path: string;
  #fd: number | undefined;

  /** Takes over the locked descriptor. Use `acquireLock`. */
  constructor(path: string, fd: number) {
    this.path = path;
    this.#fd = fd;
  }

  /** Gives the lock up and removes its file. Idempotent. */
  release(): void {
    const fd = this.#fd;
    if (fd === undefined) return;
    this.#fd = undefined;
    try {
      // While locked: whoever opened this file meanwhile sees that it is gone, and tries again.
      if (isSameFile(fd, this.path)) unlinkSync(this.path);
    } finally {
      closeSync(fd);
    }
  }
}

/**
 * The lock file that stands for a unix socket of somebody else: beside it, found through links, so that all who reach the socket meet the same
 * file, from other containers as well. The socket need not exist.
 */
export async function socketLockPath(options: { readonly socketPath: string }): Promise<string> {
  const resolved = await realpath(options.socketPath).catch(async () => {
    const folder = dirname(options.socketPath);
    return join(await realpath(folder).catch(() => folder), basename(options.socketPath));
  });
  return `${resolved}.nodelet.lock`;
}

async function findFlock(): Promise<string> {
  const { flock } = await nativeCapabilities();
  if (flock.found) return flock.path;
  throw new LockUnavailableError(`no lock can be taken: ${flock.reason}`);
}

function openLockFile(path: string): number {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const fd = openSync(path, flags, 0o600);
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw new LockUnavailableError(`${path}: is not a regular file and cannot be locked`);
}

/** Answers false when another open file holds the lock. */
async function lockDescriptor(options: { readonly fd: number; readonly flockPath: string }): Promise<boolean> {
  const child = spawn(options.flockPath, ["-n", "3"], {
    stdio: ["ignore", "ignore", "pipe", options.fd],
    timeout: HELPER_TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
  let complaint = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    complaint = `${complaint}${text}`.slice(0, 500);
  });
  const ended = await new Promise<string | number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code ?? signal ?? "nothing"));
  }).catch((cause: unknown) => {
    throw new LockUnavailableError(`${options.flockPath}: cannot be run`, { cause });
  });
  if (ended === 0) return true;
  if (ended === CONFLICT_EXIT_CODE) return false;
  throw new LockUnavailableError(`${options.flockPath} -n ended with ${ended}: ${complaint.trim() || "no message"}`);
}

function isSameFile(fd: number, path: string): boolean {
  const ours = fstatSync(fd, { bigint: true });
  const there = statSync(path, { bigint: true, throwIfNoEntry: false });
  return there !== undefined && there.ino === ours.ino && there.dev === ours.dev;
}

function writeHolder(fd: number, holder: LockHolder): void {
  ftruncateSync(fd, 0);
  writeSync(fd, `${JSON.stringify(holder)}\n`, 0);
}

/** The holder writes right after it got the lock: gives it a moment. */
async function readHolder(fd: number): Promise<LockHolder | undefined> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const buffer = Buffer.alloc(MAX_HOLDER_BYTES);
    const holder = parseHolder(buffer.toString("utf8", 0, readSync(fd, buffer, 0, MAX_HOLDER_BYTES, 0)));
    if (holder !== undefined) return holder;
    await delay(20);
  }
  return undefined;
}

function parseHolder(text: string): LockHolder | undefined {
  try {
    const value = JSON.parse(text) as { pid?: unknown; details?: unknown } | null;
    if (typeof value !== "object" || value === null || typeof value.pid !== "number") return undefined;
    if (typeof value.details !== "object" || value.details === null) return undefined;
    const details = Object.entries(value.details).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string",
    );
    return { pid: value.pid, details: Object.fromEntries(details) };
  } catch {
    return undefined;
  }
}
