import {
  type CallOptions,
  type Clock,
  type DirectoryEntry,
  type DirectoryHint,
  type DirectoryWatch,
  type FileContent,
  NodeletError,
  type PathLook,
  throwIfAborted,
} from "@nodelet/core";
import { requireSegment } from "../files/path-segment.ts";

interface StoredFile {
  readonly bytes: Uint8Array;
  readonly type: DirectoryEntry["type"];
  readonly mtimeMs: number;
  readonly inode: number;
  /** Counts changes of the file behind its back as ctime does. */
  readonly change: number;
}

type Place =
  | { readonly kind: "directory"; readonly files: Map<string, StoredFile> }
  | { readonly kind: "file"; file: StoredFile };

/**
 * Manifest directories in memory. Paths come to be when something is written to them; times are the clock's. Hints come at once, each in a turn
 * of its own, unless `hints` is false, which stands for a system that loses them.
 */
export class InMemoryDirectoryWatch implements DirectoryWatch {
  readonly #clock: Clock;
  readonly #places = new Map<string, Place>();
  readonly #watches = new Set<{
    readonly path: string;
    hint: (name: string) => void;
    fail: (error: NodeletError) => void;
  }>();
  #counter = 0;
  hints = true;

  constructor(options: { readonly clock: Clock }) {
    this.#clock = options.clock;
  }

  /** Makes an empty directory. */
  makeDirectory(path: string): void {
    if (!this.#places.has(path)) this.#places.set(path, { kind: "directory", files: new Map() });
  }

  /** Writes a file of a directory, making both; `type` other than file makes what is no manifest. */
  write(file: {
    readonly path: string;
    readonly name: string;
    readonly content: string;
    readonly type?: DirectoryEntry["type"];
  }): void {
    this.makeDirectory(file.path);
    const place = this.#places.get(file.path);
    if (place?.kind !== "directory") throw new NodeletError("conflict", `${file.path} is a file`);
    place.files.set(file.name, this.#store(place.files.get(file.name), file));
    this.#hint(file.path, file.name);
  }

  /** Writes a path that is itself a file. */
  writeFile(file: { readonly path: string; readonly content: string }): void {
    const place = this.#places.get(file.path);
    this.#places.set(file.path, {
      kind: "file",
      file: this.#store(place?.kind === "file" ? place.file : undefined, file),
    });
    this.#hint(file.path, baseName(file.path));
  }

  /** Removes a file of a directory. */
  remove(file: { readonly path: string; readonly name: string }): void {
    const place = this.#places.get(file.path);
    if (place?.kind === "directory" && place.files.delete(file.name)) this.#hint(file.path, file.name);
  }

  /** Removes a path with all in it; watches of it break off. */
  removePath(path: string): void {
    this.#places.delete(path);
    for (const watch of [...this.#watches].filter((candidate) => candidate.path === path)) {
      watch.fail(new NodeletError("notFound", `${path} was removed`));
    }
  }

  async look(request: { readonly path: string; readonly maxEntries: number } & CallOptions): Promise<PathLook> {
    throwIfAborted(request.signal, "looking at a directory");
    const place = this.#places.get(request.path);
    if (place === undefined) return { kind: "absent" };
    if (place.kind === "file") return { kind: "file", entry: entryOf(baseName(request.path), place.file) };
    if (place.files.size > request.maxEntries) {
      throw new NodeletError("resourceExhausted", `${request.path} has more than ${request.maxEntries} entries`);
    }
    return { kind: "directory", entries: [...place.files].map(([name, file]) => entryOf(name, file)) };
  }

  async read(
    request: { readonly path: string; readonly name?: string; readonly maxBytes: number } & CallOptions,
  ): Promise<FileContent> {
    throwIfAborted(request.signal, "reading a file");
    const { path, name, maxBytes } = request;
    if (name !== undefined) requireSegment({ value: name, what: "file name" });
    const place = this.#places.get(path);
    const file = place?.kind === "directory" ? place.files.get(name ?? "") : place?.file;
    if (file === undefined) throw new NodeletError("notFound", `${path}/${name ?? ""} does not exist`);
    if (file.type !== "file") throw new NodeletError("invalid", `${path}/${name ?? ""} is not a regular file`);
    if (file.bytes.length > maxBytes) {
      throw new NodeletError("resourceExhausted", `${path}/${name ?? ""} has more than ${maxBytes} bytes`);
    }
    return { bytes: file.bytes.slice(), entry: entryOf(name ?? baseName(path), file) };
  }

  watch(request: {
    readonly path: string;
    readonly onChange: (hint: DirectoryHint) => void;
    readonly signal: AbortSignal;
  }): Promise<void> {
    const { path, onChange, signal } = request;
    if (signal.aborted) return Promise.resolve();
    if (!this.#places.has(path)) return Promise.reject(new NodeletError("notFound", `${path} does not exist`));
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        this.#watches.delete(watch);
        signal.removeEventListener("abort", onAbort);
        settle();
      };
      const onAbort = () => end(resolve);
      const watch = {
        path,
        hint: (name: string) => {
          void Promise.resolve().then(() => {
            if (this.#watches.has(watch)) onChange({ name });
          });
        },
        fail: (error: NodeletError) => end(() => reject(error)),
      };
      this.#watches.add(watch);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  #hint(path: string, name: string): void {
    if (!this.hints) return;
    for (const watch of this.#watches) if (watch.path === path) watch.hint(name);
  }

  #store(
    previous: StoredFile | undefined,
    file: { readonly content: string; readonly type?: DirectoryEntry["type"] },
  ): StoredFile {
    this.#counter += 1;
    return {
      bytes: new TextEncoder().encode(file.content),
      type: file.type ?? "file",
      mtimeMs: this.#clock.nowMs(),
      inode: previous?.inode ?? this.#counter,
      change: this.#counter,
    };
  }
}

function entryOf(name: string, file: StoredFile): DirectoryEntry {
  const { type, bytes, mtimeMs, inode, change } = file;
  return { name, type, sizeBytes: bytes.length, mtimeMs, fileId: `${inode}:${change}` };
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
