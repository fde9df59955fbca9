import { constants, type Dirent } from "node:fs";
import { open, opendir, rename, rmdir, unlink } from "node:fs/promises";
import { temporaryName } from "./files.ts";
import { mountIdOf } from "./mounts.ts";
import type { SafeDirectory } from "./safe-directory.ts";
import { errnoOf, UnsafePathError } from "./unsafe-path-error.ts";

/** Deeper directories are first moved up to the top of the tree, so that a hostile tree cannot exhaust descriptors or the stack. */
const MAX_DEPTH = 64;
/** Entries taken from a directory at a time: a directory with millions of entries needs no more memory than one with a thousand. */
const BATCH = 1024;

/** What `removeTree` is told. */
export interface RemoveTreeOptions {
  readonly directory: SafeDirectory;
  readonly name: string;
  readonly signal?: AbortSignal;
}

/**
 * Removes an entry of the directory with everything below it. Links are removed, never followed; another mount is never entered (also not a
 * bind mount of the same file system): then it throws `mountPoint`, having removed what came before. Names may be any bytes. Idempotent:
 * answers false when the entry was absent.
 */
export async function removeTree(options: RemoveTreeOptions): Promise<boolean> {
  const { directory, name } = options;
  const found = await directory.look(name);
  if (found === undefined) return false;
  if (!found.isDirectory()) return directory.unlink(name);
  const removal = new Removal(mountIdOf(directory), options.signal);
  await removal.removeDirectory({ parentFd: directory.fd, name: Buffer.from(name), path: `${directory.path}/${name}` });
  return true;
}

interface Victim {
  readonly parentFd: number;
  readonly name: Buffer;
  readonly path: string;
}

class Removal {
  readonly #mountId: number;
  readonly #signal: AbortSignal | undefined;
  /** Descriptor of the tree's top, where directories that lie too deep are moved. */
  #topFd: number | undefined;

  constructor(mountId: number, signal: AbortSignal | undefined) {
    this.#mountId = mountId;
    this.#signal = signal;
  }

  async removeDirectory(victim: Victim, depth = 0): Promise<void> {
    const handle = await open(pathAt(victim), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      if (mountIdOf(handle) !== this.#mountId) {
        throw new UnsafePathError("mountPoint", victim.path, "another file system is mounted here: unmount it first");
      }
      this.#topFd ??= handle.fd;
      do {
        await this.#removeBatch({ fd: handle.fd, path: victim.path, depth });
        // Entries that came meanwhile, or were moved up from below, need another round. What cannot be removed throws, so there is an end.
      } while (!(await removeEmptied(victim)));
    } finally {
      await handle.close();
    }
  }

  async #removeBatch(directory: { readonly fd: number; readonly path: string; readonly depth: number }): Promise<void> {
    for (const entry of await readBatch(directory.fd)) {
      this.#signal?.throwIfAborted();
      const path = `${directory.path}/${entry.name.toString()}`;
      await this.#removeEntry({ parentFd: directory.fd, name: entry.name, path }, entry.isDirectory(), directory.depth);
    }
  }

  async #removeEntry(victim: Victim, isDirectory: boolean, depth: number): Promise<void> {
    try {
      if (!isDirectory) return await ignoreAbsent(unlink(pathAt(victim)));
      if (depth < MAX_DEPTH || this.#topFd === undefined) return await this.removeDirectory(victim, depth + 1);
      const moved = Buffer.from(temporaryName());
      await rename(pathAt(victim), pathAt({ parentFd: this.#topFd, name: moved }));
    } catch (error) {
      // EBUSY: a mount point in its own directory. ENOTDIR, EISDIR: replaced meanwhile; the next round sees what it is now.
      const code = errnoOf(error);
      if (code === "EBUSY") throw new UnsafePathError("mountPoint", victim.path, "is in use as a mount point");
      if (code !== "ENOTDIR" && code !== "EISDIR" && code !== "ENOENT") throw error;
    }
  }
}

async function readBatch(fd: number): Promise<Dirent<Buffer>[]> {
  // The typings know Buffer names for readdir only; opendir takes the same option.
  const entries = (await opendir(`/proc/self/fd/${fd}`, {
    encoding: "buffer" as BufferEncoding,
    bufferSize: 128,
  })) as unknown as AsyncIterable<Dirent<Buffer>>;
  const batch: Dirent<Buffer>[] = [];
  for await (const entry of entries) {
    batch.push(entry);
    if (batch.length >= BATCH) break;
  }
  return batch;
}

function pathAt(victim: Pick<Victim, "parentFd" | "name">): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${victim.parentFd}/`), victim.name]);
}

/** Answers false while something is in the directory. */
async function removeEmptied(victim: Victim): Promise<boolean> {
  try {
    await rmdir(pathAt(victim));
    return true;
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOTEMPTY" || code === "EEXIST") return false;
    if (code === "ENOENT") return true;
    throw error;
  }
}

async function ignoreAbsent(promise: Promise<void>): Promise<void> {
  try {
    await promise;
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}
