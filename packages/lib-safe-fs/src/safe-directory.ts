import { constants, type Dirent, type Stats } from "node:fs";
import {
  type FileHandle,
  link,
  lstat,
  mkdir,
  open,
  opendir,
  readlink,
  rename,
  rmdir,
  symlink,
  unlink,
} from "node:fs/promises";
import { assertPlainName } from "./names.ts";
import { O_PATH } from "./open-flags.ts";
import { errnoOf, UnsafePathError } from "./unsafe-path-error.ts";

const OPEN_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY;

/** Thrown by `list` beyond this many entries unless told otherwise. */
const DEFAULT_MAX_ENTRIES = 100_000;

/**
 * An open directory. Everything is named relative to the descriptor by one plain name and links are never followed, so whoever renames or
 * replaces directories meanwhile cannot lead an operation elsewhere. Node.js has no openat: the kernel's `/proc/self/fd/N/name` does the
 * same. `path` is only for messages. Close it when done, or use `withDirectory`.
 */
export class SafeDirectory {
  readonly path: string;
  readonly #handle: FileHandle;

  private constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.#handle = handle;
  }

  /** Opens a root of our own. The operator may have made it a link, so links are followed here and only here. */
  static async open(path: string): Promise<SafeDirectory> {
    return new SafeDirectory(path, await open(path, OPEN_DIRECTORY));
  }

  get fd(): number {
    return this.#handle.fd;
  }

  /** Name of an entry as the kernel resolves it from the open descriptor. */
  at(name: string): string {
    return `/proc/self/fd/${this.#handle.fd}/${assertPlainName(name, this.path)}`;
  }

  /** Opens a sub-directory. Throws `notDirectory` for links and everything else that is none; ENOENT when absent. */
  async openChild(name: string): Promise<SafeDirectory> {
    const path = `${this.path}/${name}`;
    try {
      return new SafeDirectory(path, await open(this.at(name), OPEN_DIRECTORY | constants.O_NOFOLLOW));
    } catch (error) {
      const code = errnoOf(error);
      if (code === "ENOTDIR" || code === "ELOOP") {
        throw new UnsafePathError("notDirectory", path, "is not a directory (a link is not followed)");
      }
      throw error;
    }
  }

  /** Opens a sub-directory and makes it first when it is absent. `mode` applies to a new one, exactly (whatever the umask is). */
  async ensureChild(name: string, options: { readonly mode: number }): Promise<SafeDirectory> {
    let made = false;
    try {
      await mkdir(this.at(name), { mode: options.mode });
      made = true;
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
    }
    const child = await this.openChild(name);
    if (!made) return child;
    try {
      await child.#handle.chmod(options.mode);
      return child;
    } catch (error) {
      await child.close();
      throw error;
    }
  }

  /** Opens the directory under `parts`, one part at a time. */
  async openDown(parts: readonly string[]): Promise<SafeDirectory> {
    return this.#down(parts, (directory, part) => directory.openChild(part));
  }

  /** As `openDown`, making what is absent with `mode`. */
  async ensureDown(parts: readonly string[], options: { readonly mode: number }): Promise<SafeDirectory> {
    return this.#down(parts, (directory, part) => directory.ensureChild(part, options));
  }

  /** Entries, none of them followed. Throws `tooLarge` beyond `maxEntries`. */
  async list(options: { readonly maxEntries?: number } = {}): Promise<readonly Dirent[]> {
    const maxEntries = options.maxEntries ?? DEFAULT_MAX_ENTRIES;
    const entries: Dirent[] = [];
    for await (const entry of await opendir(`/proc/self/fd/${this.fd}`, { bufferSize: 256 })) {
      if (entries.length >= maxEntries) {
        throw new UnsafePathError("tooLarge", this.path, `has more than ${maxEntries} entries`);
      }
      entries.push(entry);
    }
    return entries;
  }

  /** Facts of an entry itself, or undefined when it is absent. */
  async look(name: string): Promise<Stats | undefined> {
    return absentAsUndefined(lstat(this.at(name)));
  }

  /** Target of a link, or undefined when there is none of that name. Throws `notRegular` when the entry is no link. */
  async readLink(name: string): Promise<string | undefined> {
    try {
      return await absentAsUndefined(readlink(this.at(name)));
    } catch (error) {
      if (errnoOf(error) === "EINVAL") throw new UnsafePathError("notRegular", `${this.path}/${name}`, "is not a link");
      throw error;
    }
  }

  /**
   * Opens a regular file that exists. The entry is first named without opening it and looked at, so that a pipe cannot block and a device
   * cannot act; what was looked at is what gets opened. Throws `link`, `notRegular`, or ENOENT.
   */
  async openFile(name: string, options: { readonly access: "read" | "write" | "readWrite" }): Promise<FileHandle> {
    const path = `${this.path}/${name}`;
    const named = await open(this.at(name), O_PATH | constants.O_NOFOLLOW);
    try {
      const stats = await named.stat();
      if (stats.isSymbolicLink()) throw new UnsafePathError("link", path, "is a link and is not followed");
      if (!stats.isFile()) throw new UnsafePathError("notRegular", path, "is not a regular file");
      const access = { read: constants.O_RDONLY, write: constants.O_WRONLY, readWrite: constants.O_RDWR }[
        options.access
      ];
      return await open(`/proc/self/fd/${named.fd}`, access | constants.O_NONBLOCK | constants.O_NOCTTY);
    } finally {
      await named.close();
    }
  }

  /** Makes a file that must not exist yet, with exactly `mode`, and opens it for writing. EEXIST when something has that name. */
  async createFile(name: string, options: { readonly mode: number }): Promise<FileHandle> {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const handle = await open(this.at(name), flags, options.mode & 0o700);
    try {
      await handle.chmod(options.mode);
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Makes a directory; EEXIST when something has that name. */
  async makeDirectory(name: string, options: { readonly mode: number }): Promise<void> {
    await mkdir(this.at(name), { mode: options.mode });
  }

  /** Makes a symbolic link with this target. */
  async makeLink(name: string, options: { readonly target: string }): Promise<void> {
    await symlink(options.target, this.at(name));
  }

  /** Gives an entry a second name in this directory, without following it; EEXIST when that is taken. */
  async linkTo(options: { readonly from: string; readonly to: string }): Promise<void> {
    await link(this.at(options.from), this.at(options.to));
  }

  /** Renames within this directory, or into another one. What has the new name is replaced. */
  async rename(options: { readonly from: string; readonly to: string; readonly into?: SafeDirectory }): Promise<void> {
    await rename(this.at(options.from), (options.into ?? this).at(options.to));
  }

  /** Removes a file or link. Answers false when it was absent. */
  async unlink(name: string): Promise<boolean> {
    return (await absentAsUndefined(unlink(this.at(name)).then(() => true))) ?? false;
  }

  /** Removes an empty directory. Answers false when it was absent. */
  async removeEmpty(name: string): Promise<boolean> {
    return (await absentAsUndefined(rmdir(this.at(name)).then(() => true))) ?? false;
  }

  /** Makes changes of names in this directory durable. */
  async sync(): Promise<void> {
    await this.#handle.sync();
  }

  /** Idempotent. */
  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #down(
    parts: readonly string[],
    step: (directory: SafeDirectory, part: string) => Promise<SafeDirectory>,
  ): Promise<SafeDirectory> {
    // All of them first: a bad name at the end must not leave half a path behind.
    for (const part of parts) assertPlainName(part, this.path);
    let current = new SafeDirectory(this.path, await open(`/proc/self/fd/${this.fd}`, OPEN_DIRECTORY));
    for (const part of parts) {
      const parent = current;
      try {
        current = await step(parent, part);
      } finally {
        await parent.close();
      }
    }
    return current;
  }
}

/** Opens `parts` under `root`, hands the directory to `use` and closes it whatever happens. */
export async function withDirectory<T>(
  options: { readonly root: string; readonly parts?: readonly string[] },
  use: (directory: SafeDirectory) => Promise<T>,
): Promise<T> {
  const root = await SafeDirectory.open(options.root);
  let directory = root;
  try {
    if (options.parts !== undefined && options.parts.length > 0) directory = await root.openDown(options.parts);
    return await use(directory);
  } finally {
    if (directory !== root) await directory.close();
    await root.close();
  }
}

async function absentAsUndefined<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
