import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { scratchFolders } from "../scratch.test-support.ts";
import { readCriLogTail } from "./cri-log.ts";

const scratch = scratchFolders();
let handle: FileHandle | undefined;
afterEach(() => handle?.close());

async function tailOf(content: string | Buffer, maxLines = 80, maxBytes = 2048): Promise<string> {
  await handle?.close();
  handle = await open(join(scratch(), "0.log"), "w+");
  await handle.writeFile(content);
  return readCriLogTail(handle, { maxLines, maxBytes });
}

const at = "2026-01-02T03:04:05.678901234Z";
const line = (text: string, tag = "F", stream = "stdout") => `${at} ${stream} ${tag} ${text}\n`;

describe("records", () => {
  it.each([
    ["nothing", "", ""],
    ["both streams in order", line("a") + line("b", "F", "stderr"), "a\nb\n"],
    ["spaces and empty texts", line("  a  b ") + line(""), "  a  b \n\n"],
    ["a record without the last space", `${at} stdout F\n`, "\n"],
    ["partial lines, joined", line("one ", "P") + line("two ", "P") + line("three") + line("x"), "one two three\nx\n"],
    ["further tags behind P", line("a", "P:later") + line("b", "F:later"), "ab\n"],
    ["a partial end", line("a") + line("b", "P"), "a\nb"],
    ["a torn last line", `${line("a")}${at} stdout F half`, "a\nhalf"],
    ["a torn head of a line", `${line("a")}2026-01-02T03:0`, "a\n"],
    ["foreign lines left out", `{"log":"docker"}\n${line("a")}nonsense\n\n${at} stdin F no\n${line("b")}`, "a\nb\n"],
    ["carriage returns kept", line("a\r"), "a\r\n"],
  ])("%s", async (_, content, expected) => {
    expect(await tailOf(content)).toBe(expected);
  });

  it("are the last maxLines", async () => {
    const all = Array.from({ length: 200 }, (_, index) => line(`n${index}`)).join("");
    expect(await tailOf(all, 3)).toBe("n197\nn198\nn199\n");
    expect(await tailOf(all, 0)).toBe("");
  });

  it("are cut to the last maxBytes, between characters", async () => {
    expect(await tailOf(line("0123456789"), 80, 5)).toBe("6789\n");
    expect(await tailOf(line("aé"), 80, 2)).toBe("\n");
    expect(await tailOf(line("x"), 80, 0)).toBe("");
  });
});

describe("hostile files", () => {
  it("finds records behind a crash hole, and none in a file of NUL bytes", async () => {
    expect(await tailOf(Buffer.concat([Buffer.alloc(4096), Buffer.from(`\n${line("after")}`)]), 1)).toBe("after\n");
    expect(await tailOf(Buffer.concat([Buffer.alloc(4096), Buffer.from(line("swallowed") + line("after"))]), 5)).toBe(
      "after\n",
    );
    expect(await tailOf(Buffer.alloc(100_000))).toBe("");
  });

  it("reads a 10 GiB sparse file in bounded time and memory", async () => {
    expect(await tailOf("")).toBe("");
    await handle?.truncate(10 * 2 ** 30);
    const before = { ms: performance.now(), rss: process.memoryUsage.rss() };
    expect(await readCriLogTail(handle as FileHandle, { maxLines: 80, maxBytes: 2048 })).toBe("");
    expect(performance.now() - before.ms).toBeLessThan(2_000);
    expect(process.memoryUsage.rss() - before.rss).toBeLessThan(64 * 2 ** 20);
  });

  it("gives up on a line without an end", async () => {
    expect(await tailOf(`${at} stdout F ${"x".repeat(2 ** 21)}`)).toBe("");
  });
});

it("equals reading the whole file, for any lines and bounds", async () => {
  const anyLine = fc.oneof(
    fc.tuple(fc.string({ maxLength: 400 }), fc.constantFrom("P", "F")).map(([text, tag]) => ({ text, tag })),
    fc.constant({ text: "y".repeat(20_000), tag: "P" }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(anyLine, { maxLength: 60 }), fc.integer({ min: 1, max: 80 }), async (lines, maxLines) => {
      const clean = lines.map(({ text, tag }) => ({ tag, text: text.replace(/\n/g, " ") }));
      const expected = clean
        .slice(-maxLines)
        .map(({ text, tag }) => (tag === "P" ? text : `${text}\n`))
        .join("");
      const content = clean.map(({ text, tag }) => line(text, tag)).join("");
      expect(await tailOf(content, maxLines, 10_000_000)).toBe(expected);
    }),
    { numRuns: 60 },
  );
});
