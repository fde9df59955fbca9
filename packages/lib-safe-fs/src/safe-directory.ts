import {
  closeSync,
  constants,
  type Dirent,
  fchmod,
  fstat,
  fstatSync,
  fsync,
  lstatSync,
  open as openLaterWith,
  openSync,
  readlinkSync,
  type Stats,
} from "node:fs";
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
import { promisify } from "node:util";
import { assertPlainName } from "./names.ts";
import { O_PATH } from "./open-flags.ts";
import { modeAfterUmask } from "./umask.ts";
import { errnoOf, UnsafePathError } from "./unsafe-path-error.ts";

const OPEN_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY;
const openLater = promisify(openLaterWith);
const chmodLater = promisify(fchmod);
const syncLater = promisify(fsync);
const factsLater = promisify(fstat);

/** Thrown by `list` beyond this many entries unless told otherwise. */
const DEFAULT_MAX_ENTRIES = 100_000;

/** How a directory is worked with. */
export interface SafeDirectoryOptions {
  /**
   * The tree lies on a file system of the machine itself, which cannot hang: looking things up in it is done at once instead of by a thread of
   * Node.js's pool, which costs thirty times as much as the look itself. What changes or reads content is left to the pool in any case.
   */
  readonly local?: boolean;
}

/**
 * An open directory. Everything is named relative to the descriptor by one plain name and links are never followed, so whoever renames or
 * replaces directories meanwhile cannot lead an operation elsewhere. Node.js has no openat: the kernel's `/proc/self/fd/N/name` does the
 * same. `path` is only for messages. Close it when done, or use `withDirectory`.
 */
export class SafeDirectory {
  readonly path: string;
  readonly #local: boolean;
  #fd: number;

  private constructor(options: { readonly path: string; readonly fd: number; readonly local: boolean }) {
    this.path = options.path;
    this.#fd = options.fd;
    this.#local = options.local;
  }

  /** Opens a root of our own. The operator may have made it a link, so links are followed here and only here. */
  static async open(path: string, options: SafeDirectoryOptions = {}): Promise<SafeDirectory> {
    const local = options.local === true;
    const fd = local ? openSync(path, OPEN_DIRECTORY) : await openLater(path, OPEN_DIRECTORY);
    return new SafeDirectory({ path, fd, local });
  }

  get fd(): number {
    return this.#fd;
  }

  /** Name of an entry as the kernel resolves it from the open descriptor. */
  at(name: string): string {
    return `/proc/self/fd/${this.#fd}/${assertPlainName(name, this.path)}`;
  }

  /** Opens a sub-directory. Throws `notDirectory` for links and everything else that is none; ENOENT when absent. */
  async openChild(name: string): Promise<SafeDirectory> {
    return this.openDown([name]);
  }

  /** Opens a sub-directory and makes it first when it is absent. `mode` applies to a new one, exactly (whatever the umask is). */
  async ensureChild(name: string, options: { readonly mode: number }): Promise<SafeDirectory> {
    const made = await this.#makeUnlessThere(name, options);
    const child = await this.openChild(name);
    try {
      if (made) await child.#setMode(options.mode);
      return child;
    } catch (error) {
      await child.close();
      throw error;
    }
  }

  /** As `ensureChild`, for a directory that nothing is to be done in now. */
  async ensureDirectory(name: string, options: { readonly mode: number }): Promise<void> {
    const made = await this.#makeUnlessThere(name, options);
    if (made && modeAfterUmask(options.mode) === options.mode) return;
    const child = await this.openChild(name);
    try {
      if (made) await child.#setMode(options.mode);
    } finally {
      await child.close();
    }
  }

  /**
   * Opens the directory under `parts`. The kernel walks the whole way in one call and may follow links between the parts, which only looks
   * things up; then it tells where the descriptor lies, and one that lies elsewhere than the names say is closed and refused.
   */
  async openDown(parts: readonly string[]): Promise<SafeDirectory> {
    for (const part of parts) assertPlainName(part, this.path);
    const below = parts.map((part) => `/${part}`).join("");
    const path = `${this.path}${below}`;
    const target = `/proc/self/fd/${this.#fd}${below}`;
    // Without parts the descriptor itself is meant, which is a link of /proc.
    const flags = parts.length === 0 ? OPEN_DIRECTORY : OPEN_DIRECTORY | constants.O_NOFOLLOW;
    try {
      const fd = this.#local ? openSync(target, flags) : await openLater(target, flags);
      const child = new SafeDirectory({ path, fd, local: this.#local });
      if (parts.length < 2 || placeOf(fd) === `${placeOf(this.#fd)}${below}`) return child;
      await child.close();
      throw new UnsafePathError("notDirectory", path, "is reached through a link, which is not followed");
    } catch (error) {
      const code = errnoOf(error);
      if (code === "ENOTDIR" || code === "ELOOP") {
        throw new UnsafePathError("notDirectory", path, "is not a directory (a link is not followed)");
      }
      throw error;
    }
  }

  /** As `openDown`, making what is absent with `mode`, one part at a time. */
  async ensureDown(parts: readonly string[], options: { readonly mode: number }): Promise<SafeDirectory> {
    // All of them first: a bad name at the end must not leave half a path behind.
    for (const part of parts) assertPlainName(part, this.path);
    const last = parts.at(-1);
    if (last === undefined) return this.openDown([]);
    const parent = await this.#ensureParent(parts.slice(0, -1), options);
    try {
      return await parent.ensureChild(last, options);
    } finally {
      await parent.close();
    }
  }

  /** Entries, none of them followed. Throws `tooLarge` beyond `maxEntries`. */
  async list(options: { readonly maxEntries?: number } = {}): Promise<readonly Dirent[]> {
    const maxEntries = options.maxEntries ?? DEFAULT_MAX_ENTRIES;
    const entries: Dirent[] = [];
    for await (const entry of await opendir(`/proc/self/fd/${this.#fd}`, { bufferSize: 256 })) {
      if (entries.length >= maxEntries) {
        throw new UnsafePathError("tooLarge", this.path, `has more than ${maxEntries} entries`);
      }
      entries.push(entry);
    }
    return entries;
  }

  /** Facts of an entry itself, or undefined when it is absent. */
  async look(name: string): Promise<Stats | undefined> {
    const at = this.at(name);
    return this.#local ? lstatSync(at, { throwIfNoEntry: false }) : absentAsUndefined(lstat(at));
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
    const flags = O_PATH | constants.O_NOFOLLOW;
    const named = this.#local ? openSync(this.at(name), flags) : await openLater(this.at(name), flags);
    try {
      const stats = this.#local ? fstatSync(named) : await factsLater(named);
      if (stats.isSymbolicLink()) throw new UnsafePathError("link", path, "is a link and is not followed");
      if (!stats.isFile()) throw new UnsafePathError("notRegular", path, "is not a regular file");
      const access = { read: constants.O_RDONLY, write: constants.O_WRONLY, readWrite: constants.O_RDWR }[
        options.access
      ];
      return await open(`/proc/self/fd/${named}`, access | constants.O_NONBLOCK | constants.O_NOCTTY);
    } finally {
      closeSync(named);
    }
  }

  /** Makes a file that must not exist yet, with exactly `mode`, and opens it for writing. EEXIST when something has that name. */
  async createFile(name: string, options: { readonly mode: number }): Promise<FileHandle> {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const exact = modeAfterUmask(options.mode) === options.mode;
    const handle = await open(this.at(name), flags, exact ? options.mode : options.mode & 0o700);
    try {
      if (!exact) await handle.chmod(options.mode);
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
    await syncLater(this.#fd);
  }

  /** Idempotent. A directory's descriptor has nothing to write out: closing it takes no time. */
  async close(): Promise<void> {
    const fd = this.#fd;
    this.#fd = -1;
    if (fd >= 0) closeSync(fd);
  }

  async #ensureParent(parts: readonly string[], options: { readonly mode: number }): Promise<SafeDirectory> {
    try {
      return await this.openDown(parts);
    } catch (error) {
      if (errnoOf(error) !== "ENOENT" || parts.length === 0) throw error;
      return this.ensureDown(parts, options);
    }
  }

  /** Answers whether it was made here. */
  async #makeUnlessThere(name: string, options: { readonly mode: number }): Promise<boolean> {
    if (this.#local && (await this.look(name)) !== undefined) return false;
    try {
      await mkdir(this.at(name), { mode: options.mode });
      return true;
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
      return false;
    }
  }

  async #setMode(mode: number): Promise<void> {
    if (modeAfterUmask(mode) !== mode) await chmodLater(this.#fd, mode);
  }
}

/** Opens `parts` under `root`, hands the directory to `use` and closes it whatever happens. */
export async function withDirectory<T>(
  options: { readonly root: string; readonly parts?: readonly string[] } & SafeDirectoryOptions,
  use: (directory: SafeDirectory) => Promise<T>,
): Promise<T> {
  const root = await SafeDirectory.open(options.root, options);
  let directory = root;
  try {
    if (options.parts !== undefined && options.parts.length > 0) directory = await root.openDown(options.parts);
    return await use(directory);
  } finally {
    if (directory !== root) await directory.close();
    await root.close();
  }
}

/** Where an open directory lies, as the kernel knows it: without links, and as it is now. Answered from the kernel's memory. */
function placeOf(fd: number): string {
  const place = readlinkSync(`/proc/self/fd/${fd}`);
  return place === "/" ? "" : place;
}

async function absentAsUndefined<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
