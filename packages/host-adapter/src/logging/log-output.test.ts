import { closeSync, constants, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { makePipe, scratchFolders } from "../scratch.test-support.ts";
import { DescriptorOutput } from "./log-output.ts";

const scratch = scratchFolders();
const droppedLine = (count: number) => `dropped ${count}\n`;
const descriptors: number[] = [];
afterEach(() => descriptors.splice(0).forEach((fd) => closeSync(fd)));

function open(path: string, flags: number): number {
  const fd = openSync(path, flags, 0o600);
  descriptors.push(fd);
  return fd;
}

describe("DescriptorOutput", () => {
  it("writes all lines in order", async () => {
    const path = join(scratch(), "log");
    const output = new DescriptorOutput({ fd: open(path, constants.O_CREAT | constants.O_WRONLY), droppedLine });
    await output.flush();
    const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index}\n`);
    for (const line of lines) output.write(line);
    await output.flush();
    expect(readFileSync(path, "utf8")).toBe(lines.join(""));
    output.write("more\n");
    output.flushSync();
    await output.flush();
    expect(readFileSync(path, "utf8").endsWith("line 19999\nmore\n")).toBe(true);
  });

  it("neither blocks nor grows when nobody reads, then tells how much was lost", async () => {
    const path = join(scratch(), "pipe");
    makePipe(path);
    const reader = open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    // Blocking, as standard error is: the write waits in a thread of the pool.
    const fd = open(path, constants.O_RDWR);
    const output = new DescriptorOutput({ fd, maxBufferedBytes: 1_000_000, droppedLine });
    const line = `${"x".repeat(999)}\n`;
    for (let index = 0; index < 3_000; index += 1) output.write(line);
    let text = "";
    const drain = () => {
      const buffer = Buffer.alloc(65_536);
      try {
        for (;;) text += buffer.toString("utf8", 0, readSync(reader, buffer));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      }
    };
    const flushed = output.flush().then(() => true);
    while (!(await Promise.race([flushed, new Promise<boolean>((done) => setImmediate(() => done(false)))]))) drain();
    drain();
    const kept = text.match(/x+\n/g)?.length ?? 0;
    expect(kept).toBeGreaterThanOrEqual(1_000);
    expect(kept).toBeLessThan(1_200);
    output.write("after\n");
    await output.flush();
    text = "";
    drain();
    expect(text).toBe(`dropped ${3_000 - kept}\nafter\n`);
  });

  it("survives a descriptor that cannot be written", async () => {
    const fd = open("/dev/full", constants.O_WRONLY);
    const output = new DescriptorOutput({ fd, droppedLine });
    output.write("lost\n");
    await output.flush();
    output.write("lost\n");
    output.flushSync();
    await expect(output.flush()).resolves.toBeUndefined();
  });
});
