import { write, writeSync } from "node:fs";

/** Where log lines go. Neither throws nor blocks, but `flushSync` may wait for a slow reader. */
export interface LogOutput {
  /** Takes one line, newline included. */
  write(line: string): void;
  /** Resolves when what was written so far is out or lost. */
  flush(): Promise<void>;
  /** Writes out what is waiting before the process ends. */
  flushSync(): void;
}

const DEFAULT_MAX_BUFFERED_BYTES = 4 * 1024 * 1024;
const MAX_BATCH_BYTES = 64 * 1024;

/**
 * Writes to a file descriptor (standard error) in order, one system call at a time, in batches. Node's own streams write to files and pipes
 * synchronously: one reader that stopped reading would stop the agent. Here the lines wait, and beyond the bound they are dropped
 * and counted; a line says so when there is room again.
 */
export class DescriptorOutput implements LogOutput {
  readonly #fd: number;
  readonly #maxBufferedBytes: number;
  readonly #droppedLine: (count: number) => string;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #flying: Buffer | undefined;
  #dropped = 0;
  #idle: (() => void)[] = [];

  constructor(options: {
    readonly fd: number;
    readonly maxBufferedBytes?: number;
    /** The line that tells of dropped ones, newline included. */
    readonly droppedLine: (count: number) => string;
  }) {
    this.#fd = options.fd;
    this.#maxBufferedBytes = options.maxBufferedBytes ?? DEFAULT_MAX_BUFFERED_BYTES;
    this.#droppedLine = options.droppedLine;
  }

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#waitingBytes + bytes.length > this.#maxBufferedBytes) {
      this.#dropped += 1;
      return;
    }
    if (this.#dropped > 0) {
      this.#push(Buffer.from(this.#droppedLine(this.#dropped)));
      this.#dropped = 0;
    }
    this.#push(bytes);
    this.#next();
  }

  async flush(): Promise<void> {
    if (this.#flying === undefined && this.#waiting.length === 0) return;
    await new Promise<void>((resolve) => {
      this.#idle.push(resolve);
    });
  }

  flushSync(): void {
    // What is in flight is with a thread already; writing it again would double it.
    const rest = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    let written = 0;
    for (let attempt = 0; written < rest.length && attempt < 100; attempt += 1) {
      try {
        written += writeSync(this.#fd, rest, written);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      }
    }
  }

  #push(bytes: Buffer): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
  }

  #next(): void {
    if (this.#flying !== undefined) return;
    let bytes = 0;
    let count = 0;
    for (const line of this.#waiting) {
      bytes += line.length;
      count += 1;
      if (bytes >= MAX_BATCH_BYTES) break;
    }
    if (count === 0) {
      for (const resolve of this.#idle.splice(0)) resolve();
      return;
    }
    this.#waitingBytes -= bytes;
    this.#send(Buffer.concat(this.#waiting.splice(0, count)));
  }

  #send(bytes: Buffer): void {
    this.#flying = bytes;
    write(this.#fd, bytes, 0, bytes.length, null, (error, written) => {
      if (error?.code === "EAGAIN") {
        setTimeout(() => this.#send(bytes), 10);
        return;
      }
      if (error === null && written < bytes.length) return this.#send(bytes.subarray(written));
      // Any other error: standard error is closed, and there is nowhere to say so.
      this.#flying = undefined;
      this.#next();
    });
  }
}
