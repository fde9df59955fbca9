import { randomBytes } from "node:crypto";
import { closeSync, constants, fstat, fstatSync, openSync, open as openWith } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { promisify } from "node:util";
import { O_PATH } from "./open-flags.ts";
import type { SafeDirectory } from "./safe-directory.ts";
import { errnoOf, UnsafePathError } from "./unsafe-path-error.ts";

const TEMPORARY_PREFIX = ".nodelet-tmp-";
const CHUNK_BYTES = 64 * 1024;
const openLater = promisify(openWith);
const factsLater = promisify(fstat);

/** A fresh hidden name for a file that will be renamed. `removeTemporaries` finds what a crash left of them. */
export function temporaryName(): string {
  return `${TEMPORARY_PREFIX}${randomBytes(8).toString("hex")}`;
}

/** Removes files that interrupted atomic writes left in the directory. Only when no other writer is at work in it. */
export async function removeTemporaries(directory: SafeDirectory): Promise<number> {
  let removed = 0;
  for (const entry of await directory.list()) {
    if (entry.isFile() && entry.name.startsWith(TEMPORARY_PREFIX) && (await directory.unlink(entry.name))) removed += 1;
  }
  return removed;
}

/**
 * Replaces a file in one step: readers see the old content or the new one, and after the call the new one survives a crash of the machine.
 * The file gets exactly `mode`. What had the name (a link, too) is replaced, never followed.
 */
export async function writeFileAtomic(options: {
  readonly directory: SafeDirectory;
  readonly name: string;
  readonly data: string | Uint8Array;
  readonly mode: number;
}): Promise<void> {
  const { directory, name, data, mode } = options;
  const temporary = temporaryName();
  try {
    const handle = await directory.createFile(temporary, { mode });
    try {
      await handle.writeFile(data);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await directory.rename({ from: temporary, to: name });
  } catch (error) {
    await directory.unlink(temporary).catch(() => false);
    throw error;
  }
  await directory.sync();
}

/** Reads a regular file of the directory whole. Throws `tooLarge` beyond `maxBytes`, `link`, `notRegular`, or ENOENT. */
export async function readFileBounded(options: {
  readonly directory: SafeDirectory;
  readonly name: string;
  readonly maxBytes: number;
}): Promise<Buffer> {
  const { directory, name, maxBytes } = options;
  const handle = await directory.openFile(name, { access: "read" });
  try {
    return await readHandleBounded(handle, { path: `${directory.path}/${name}`, maxBytes });
  } finally {
    await handle.close();
  }
}

/**
 * Reads a file that the operator names: links are followed, but only a regular file is ever opened (the kernel's files under /proc and /sys
 * are), so that a pipe cannot block. `local` as in SafeDirectoryOptions. Throws `tooLarge`, `notRegular`, or the errno error.
 */
export async function readPathBounded(options: {
  readonly path: string;
  readonly maxBytes: number;
  readonly local?: boolean;
}): Promise<Buffer> {
  const handle = await openRegularPath(options.path, options);
  try {
    return await readHandleBounded(handle, options);
  } finally {
    await handle.close();
  }
}

/** Opens a regular file by path for reading, following links. See `readPathBounded`. */
export async function openRegularPath(path: string, options: { readonly local?: boolean } = {}): Promise<FileHandle> {
  const local = options.local === true;
  const named = local ? openSync(path, O_PATH) : await openLater(path, O_PATH);
  try {
    const stats = local ? fstatSync(named) : await factsLater(named);
    if (!stats.isFile()) throw new UnsafePathError("notRegular", path, "is not a regular file");
    return await open(`/proc/self/fd/${named}`, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } finally {
    // Only a name was held: there is nothing to write out.
    closeSync(named);
  }
}

/** Up to the last `maxBytes` of an open file, and where they begin in it. */
export async function readTail(
  handle: FileHandle,
  options: { readonly maxBytes: number },
): Promise<{ readonly bytes: Buffer; readonly offset: number }> {
  const { size } = await handle.stat();
  const offset = Math.max(0, size - options.maxBytes);
  const bytes = await readAt(handle, { offset, length: Math.min(size, options.maxBytes) });
  return { bytes, offset };
}

/** Reads `length` bytes at `offset`; fewer when the file ends there. */
export async function readAt(
  handle: FileHandle,
  options: { readonly offset: number; readonly length: number },
): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(options.length);
  let filled = 0;
  while (filled < options.length) {
    const { bytesRead } = await handle.read(buffer, filled, options.length - filled, options.offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/**
 * Reads an open file from its position to its end; `tooLarge` beyond `maxBytes`. Does not trust the size that the file system tells: files under /proc
 * have none, and files grow.
 */
export async function readHandleBounded(
  handle: FileHandle,
  options: { readonly path: string; readonly maxBytes: number },
): Promise<Buffer> {
  const { size } = await handle.stat();
  if (size > options.maxBytes) throw tooLarge(options);
  const chunks: Buffer[] = [];
  let total = 0;
  for (;;) {
    // One byte more than is left to read in the common case: the end shows without a second round.
    const length = Math.min(Math.max(size - total + 1, total === 0 ? 4096 : CHUNK_BYTES), options.maxBytes - total + 1);
    const buffer = Buffer.allocUnsafe(length);
    const { bytesRead } = await handle.read(buffer, 0, length, null);
    total += bytesRead;
    if (total > options.maxBytes) throw tooLarge(options);
    chunks.push(buffer.subarray(0, bytesRead));
    // Fewer bytes than asked for are the end where the size says so, too; the kernel's own files have no true size and give what they like.
    if (bytesRead === 0 || (bytesRead < length && size > 0 && total >= size)) return joined(chunks);
  }
}

function joined(chunks: readonly Buffer[]): Buffer {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}

function tooLarge(options: { readonly path: string; readonly maxBytes: number }): UnsafePathError {
  return new UnsafePathError("tooLarge", options.path, `is larger than ${options.maxBytes} bytes`);
}

/** True for the errors that mean that a file or a directory above it does not exist. */
export function isAbsent(error: unknown): boolean {
  return errnoOf(error) === "ENOENT";
}
