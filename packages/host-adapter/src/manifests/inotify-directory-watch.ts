import { type BigIntStats, type FSWatcher, watch } from "node:fs";
import { lstat, opendir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  type DirectoryEntry,
  type DirectoryHint,
  type DirectoryWatch,
  type FileContent,
  NodeletError,
  type PathLook,
  throwIfAborted,
} from "@nodelet/core";
import { assertPlainName, errnoOf, isAbsent, openRegularPath, readHandleBounded } from "@nodelet/lib-safe-fs";
import { hostCall, hostError } from "../errors/host-error.ts";

type Cancel = { readonly signal?: AbortSignal };

/** Directories of manifests on the machine's file system, watched with inotify. */
export class InotifyDirectoryWatch implements DirectoryWatch {
  async look(request: { readonly path: string; readonly maxEntries: number } & Cancel): Promise<PathLook> {
    const { path, signal } = request;
    return hostCall({ what: `cannot look at ${path}`, signal }, async () => {
      const stats = await statOrAbsent(path);
      if (stats === undefined) return { kind: "absent" };
      if (stats.isFile()) return { kind: "file", entry: entryOf(basename(path), stats) };
      if (!stats.isDirectory()) return { kind: "other" };
      return { kind: "directory", entries: await lookInside(request) };
    });
  }

  async read(
    request: { readonly path: string; readonly name?: string; readonly maxBytes: number } & Cancel,
  ): Promise<FileContent> {
    const { name, maxBytes, signal } = request;
    return hostCall({ what: `cannot read ${name ?? "the file"} of ${request.path}`, signal }, async () => {
      const path = name === undefined ? request.path : join(request.path, assertPlainName(name, request.path));
      const handle = await openRegularPath(path);
      try {
        const bytes = await readHandleBounded(handle, { path, maxBytes });
        return { bytes, entry: entryOf(name ?? basename(path), await handle.stat({ bigint: true })) };
      } finally {
        await handle.close();
      }
    });
  }

  async watch(request: {
    readonly path: string;
    readonly onChange: (hint: DirectoryHint) => void;
    readonly signal: AbortSignal;
  }): Promise<void> {
    const { path, signal } = request;
    if (signal.aborted) return;
    const watched = await hostCall({ what: `cannot watch ${path}` }, () => stat(path, { bigint: true }));
    if (signal.aborted) return;
    const watchers: FSWatcher[] = [];
    let stop = () => {};
    try {
      await new Promise<void>((resolve, reject) => {
        const fail = (error: unknown) => reject(hostError(`watching ${path} broke off`, error));
        stop = () => resolve();
        signal.addEventListener("abort", stop, { once: true });
        const check = () => verifySame(path, watched).catch(fail);
        // The parent tells when the path itself is replaced: a file by its new version, a directory or a link by another one.
        watchers.push(
          startWatcher(dirname(path), fail, (event, name) => {
            if (name !== basename(path)) return;
            request.onChange(watched.isDirectory() ? {} : { name });
            if (event === "rename" && watched.isDirectory()) void check();
          }),
        );
        if (!watched.isDirectory()) return;
        watchers.push(
          startWatcher(path, fail, (event, name) => {
            request.onChange(name === null ? {} : { name });
            if (event === "rename" && name === basename(path)) void check();
          }),
        );
        // Replaced between the look and the watch.
        void check();
      });
    } catch (error) {
      throw hostError(`cannot watch ${path}`, error);
    } finally {
      signal.removeEventListener("abort", stop);
      for (const watcher of watchers) watcher.close();
    }
  }
}

function startWatcher(
  path: string,
  onFault: (error: unknown) => void,
  onEvent: (event: "rename" | "change", name: string | null) => void,
): FSWatcher {
  const watcher = watch(path, { persistent: true, encoding: "utf8" });
  watcher.on("error", onFault);
  watcher.on("change", (event, name) => onEvent(event as "rename" | "change", typeof name === "string" ? name : null));
  return watcher;
}

/** An inotify watch sticks to the inode. When the path leads elsewhere now, the watch sees nothing of it. */
async function verifySame(path: string, watched: BigIntStats): Promise<void> {
  const now = await statOrAbsent(path);
  if (now !== undefined && now.ino === watched.ino && now.dev === watched.dev) return;
  throw new NodeletError("notFound", `${path} was ${now === undefined ? "removed" : "replaced"}`);
}

async function lookInside(request: {
  readonly path: string;
  readonly maxEntries: number;
  readonly signal?: AbortSignal;
}): Promise<readonly DirectoryEntry[]> {
  const { path, maxEntries, signal } = request;
  const entries: DirectoryEntry[] = [];
  for await (const { name } of await opendir(path)) {
    throwIfAborted(signal, `looking at ${path}`);
    if (entries.length >= maxEntries) {
      throw new NodeletError("resourceExhausted", `${path} has more than ${maxEntries} entries`);
    }
    const entry = await lookAtEntry(path, name);
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

/** Undefined when the entry vanished meanwhile. */
async function lookAtEntry(path: string, name: string): Promise<DirectoryEntry | undefined> {
  try {
    return entryOf(name, await stat(join(path, name), { bigint: true }));
  } catch (error) {
    const itself = await lstat(join(path, name), { bigint: true }).catch(() => undefined);
    if (itself !== undefined) return { ...entryOf(name, itself), type: "other" };
    // The name is not UTF-8, and no text leads to the file: told as what cannot be read, instead of passed over.
    if (name.includes("\ufffd")) return { name, type: "other", sizeBytes: 0, mtimeMs: 0, fileId: "" };
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

function entryOf(name: string, stats: BigIntStats): DirectoryEntry {
  return {
    name,
    type: stats.isFile() ? "file" : stats.isDirectory() ? "directory" : "other",
    sizeBytes: Number(stats.size),
    mtimeMs: Number(stats.mtimeNs) / 1e6,
    fileId: `${stats.dev}:${stats.ino}:${stats.ctimeNs}`,
  };
}

async function statOrAbsent(path: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(path, { bigint: true });
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
