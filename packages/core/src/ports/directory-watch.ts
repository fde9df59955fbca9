import type { CallOptions } from "./runtime-service.ts";

/** One entry of a directory, or a path that is itself a file. Symbolic links are followed: `type` and the rest are the target's. */
export interface DirectoryEntry {
  /** The name inside the directory; the last part of the path for a single file. */
  readonly name: string;
  /** "other" for sockets, pipes, devices, dangling links and whatever cannot be looked at. */
  readonly type: "file" | "directory" | "other";
  readonly sizeBytes: number;
  /** Time of the last change of the content, milliseconds since the epoch, with fraction where the file system has one. */
  readonly mtimeMs: number;
  /**
   * Tells two files behind one name apart (device and inode), and changes that leave size and mtime alone (ctime) where the file system
   * says so. Opaque: only compared.
   */
  readonly fileId: string;
}

/** What a path is at this moment. */
export type PathLook =
  | { readonly kind: "absent" }
  | { readonly kind: "file"; readonly entry: DirectoryEntry }
  | { readonly kind: "directory"; readonly entries: readonly DirectoryEntry[] }
  | { readonly kind: "other" };

/** Content of a file with the entry as it was after the last byte was read: when it differs from the one asked for, the file is changing. */
export interface FileContent {
  readonly bytes: Uint8Array;
  readonly entry: DirectoryEntry;
}

/** A hint that something changed. */
export interface DirectoryHint {
  /** Name of the entry, when the system tells it. */
  readonly name?: string;
}

/**
 * Looks at a directory (or one file) of manifests. Implemented by @nodelet/host-adapter with inotify; in memory by testkit. Reads only. The
 * path is the operator's own: links in it and in its entries are followed, but only regular files are ever opened (without blocking on
 * pipes). Errors: `permission`, `unavailable` (I/O), `resourceExhausted` (a file beyond `maxBytes`, a directory beyond `maxEntries`),
 * `notFound` (the file vanished between look and read).
 */
export interface DirectoryWatch {
  /** Everything in the path, hidden entries too, in no order. An absent path is an answer, not an error. */
  look(request: { readonly path: string; readonly maxEntries: number } & CallOptions): Promise<PathLook>;
  /** Reads one entry (`name` absent: the path itself) whole; never more than `maxBytes`. */
  read(
    request: { readonly path: string; readonly name?: string; readonly maxBytes: number } & CallOptions,
  ): Promise<FileContent>;
  /**
   * Calls `onChange` soon after something in the path may have changed, until the signal fires (then resolves). Hints may be doubled,
   * merged or lost: they hasten a look and never replace one. Rejects when watching is impossible or broke off (`notFound` while the path
   * does not exist, `resourceExhausted` when the system has no watches left); the caller tries again.
   */
  watch(request: {
    readonly path: string;
    readonly onChange: (hint: DirectoryHint) => void;
    readonly signal: AbortSignal;
  }): Promise<void>;
}
