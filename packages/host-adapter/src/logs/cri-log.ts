import type { FileHandle } from "node:fs/promises";
import { readAt } from "@nodelet/lib-safe-fs";
import { decodeTail } from "../files/decode-tail.ts";

const NEWLINE = 0x0a;
const SPACE = 0x20;
const CHUNK_BYTES = 16 * 1024;
/** How much of a log is looked through for the last records beyond what they themselves need: garbage may fill any amount. */
const SCAN_SLACK_BYTES = 256 * 1024;

/** One line of the CRI log format: `<RFC 3339 time> <stream> <tags> <text>`, tags separated by `:`, the first being P or F. */
interface CriLogLine {
  /** The text goes on in the next line of the same stream. */
  readonly partial: boolean;
  readonly text: Buffer;
}

/** Bounds of a tail. */
export interface LogTailBounds {
  readonly maxLines: number;
  readonly maxBytes: number;
}

/**
 * The text of the last `maxLines` records (lines) of a log, at most its last `maxBytes` bytes; partial lines are joined with what follows.
 * Reads backwards from the end: memory and time depend on the bounds alone. Lines that are no records (NUL bytes after a crash, for example)
 * are left out.
 */
export async function readCriLogTail(handle: FileHandle, bounds: LogTailBounds): Promise<string> {
  if (bounds.maxLines <= 0 || bounds.maxBytes <= 0) return "";
  const { size } = await handle.stat();
  const limit = Math.max(0, size - 2 * bounds.maxBytes - bounds.maxLines * 128 - SCAN_SLACK_BYTES);
  const tail = new TailCollector(bounds);
  let offset = size;
  let carried: Buffer = Buffer.alloc(0);
  while (offset > limit && !tail.full) {
    const length = Math.min(CHUNK_BYTES, offset - limit);
    offset -= length;
    const bytes = Buffer.concat([await readAt(handle, { offset, length }), carried]);
    const first = offset === 0 ? -1 : bytes.indexOf(NEWLINE);
    // What comes before the first newline belongs to a line that begins further up.
    carried = offset === 0 ? Buffer.alloc(0) : first < 0 ? bytes : bytes.subarray(0, first + 1);
    if (offset === 0 || first >= 0) tail.addBackwards(bytes.subarray(first + 1));
  }
  return tail.text();
}

/** Takes lines from the end of a log towards its beginning. */
class TailCollector {
  readonly #bounds: LogTailBounds;
  /** Texts, last one first. */
  readonly #texts: Buffer[] = [];
  #bytes = 0;
  #full = false;

  constructor(bounds: LogTailBounds) {
    this.#bounds = bounds;
  }

  get full(): boolean {
    return this.#full;
  }

  /** `block` is a run of whole lines that ends where the one before began. */
  addBackwards(block: Buffer): void {
    let end = block.length;
    while (end > 0 && !this.#full) {
      const terminated = block[end - 1] === NEWLINE;
      const stop = terminated ? end - 1 : end;
      const start = stop === 0 ? 0 : block.lastIndexOf(NEWLINE, stop - 1) + 1;
      this.#add(parseLine(block.subarray(start, stop)), terminated);
      end = start;
    }
  }

  text(): string {
    return decodeTail(Buffer.concat([...this.#texts].reverse()), { maxBytes: this.#bounds.maxBytes });
  }

  #add(line: CriLogLine | undefined, terminated: boolean): void {
    if (line === undefined) return;
    const text = line.partial || !terminated ? line.text : Buffer.concat([line.text, Buffer.of(NEWLINE)]);
    this.#texts.push(text);
    this.#bytes += text.length;
    this.#full = this.#texts.length >= this.#bounds.maxLines || this.#bytes >= this.#bounds.maxBytes;
  }
}

function parseLine(line: Buffer): CriLogLine | undefined {
  const afterTime = line.indexOf(SPACE);
  const afterStream = afterTime < 0 ? -1 : line.indexOf(SPACE, afterTime + 1);
  if (afterStream < 0) return undefined;
  const stream = line.toString("latin1", afterTime + 1, afterStream);
  if (stream !== "stdout" && stream !== "stderr") return undefined;
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(line.toString("latin1", 0, Math.min(afterTime, 40)))) return undefined;
  const afterTags = line.indexOf(SPACE, afterStream + 1);
  const tags = line.toString("latin1", afterStream + 1, afterTags < 0 ? line.length : afterTags);
  const text = afterTags < 0 ? Buffer.alloc(0) : line.subarray(afterTags + 1);
  return { partial: tags.split(":")[0] === "P", text };
}
