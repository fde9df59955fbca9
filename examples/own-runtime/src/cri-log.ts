import { type FileHandle, open } from "node:fs/promises";
import type { Readable } from "node:stream";

/** Longest piece of a line in one record, as containerd cuts them. */
const MAX_PIECE_BYTES = 16 * 1024;
const NEWLINE = 0x0a;

/** Writes a process's output in the format of CRI logs: `<time> <stream> <F or P> <text>`, P for a piece of a line that goes on. */
export class CriLog {
  readonly #file: FileHandle;
  #last: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Opens the log at the end of what is there. Rejects when its directory does not exist. */
  static async open(path: string): Promise<CriLog> {
    return new CriLog(await open(path, "a", 0o640));
  }

  /** Copies a stream until its end. The reader waits for the disk, and so does the process. */
  async copy(source: Readable, stream: "stdout" | "stderr"): Promise<void> {
    let rest = Buffer.alloc(0);
    for await (const chunk of source as AsyncIterable<Buffer>) {
      rest = Buffer.concat([rest, chunk]);
      for (let end = cutAt(rest); end >= 0; end = cutAt(rest)) {
        const isFull = rest[end] === NEWLINE;
        await this.#record({ stream, tag: isFull ? "F" : "P", text: rest.subarray(0, end) });
        rest = rest.subarray(isFull ? end + 1 : end);
      }
    }
    if (rest.length > 0) await this.#record({ stream, tag: "P", text: rest });
  }

  async close(): Promise<void> {
    await this.#last.catch(() => undefined);
    await this.#file.close();
  }

  /** One record at a time, whichever stream it is of. */
  async #record(record: { readonly stream: string; readonly tag: "F" | "P"; readonly text: Buffer }): Promise<void> {
    const head = Buffer.from(`${new Date().toISOString()} ${record.stream} ${record.tag} `);
    const bytes = Buffer.concat([head, record.text, Buffer.from("\n")]);
    this.#last = this.#last.catch(() => undefined).then(() => this.#file.appendFile(bytes));
    await this.#last;
  }
}

/** Where the next record ends: at a newline, or when a piece is full; -1 when neither is there yet. */
function cutAt(bytes: Buffer): number {
  const newline = bytes.subarray(0, MAX_PIECE_BYTES + 1).indexOf(NEWLINE);
  if (newline >= 0) return newline;
  return bytes.length > MAX_PIECE_BYTES ? MAX_PIECE_BYTES : -1;
}
