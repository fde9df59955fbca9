import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  openRegularPath,
  readAt,
  readFileBounded,
  readPathBounded,
  readTail,
  removeTemporaries,
  writeFileAtomic,
} from "./files.ts";
import { withDirectory } from "./safe-directory.ts";
import { makePipe, scratchFolders } from "./scratch.test-support.ts";

const scratch = scratchFolders();

describe("writeFileAtomic", () => {
  it("replaces the content, sets the mode, leaves no temporary file", async () => {
    const root = scratch();
    await withDirectory({ root }, async (directory) => {
      await writeFileAtomic({ directory, name: "s", data: "one", mode: 0o600 });
      await writeFileAtomic({ directory, name: "s", data: new Uint8Array([0, 255]), mode: 0o644 });
    });
    expect(readFileSync(join(root, "s"))).toEqual(Buffer.from([0, 255]));
    expect(statSync(join(root, "s")).mode & 0o777).toBe(0o644);
    expect(readdirSync(root)).toEqual(["s"]);
  });

  it("replaces a link instead of writing through it", async () => {
    const root = scratch();
    writeFileSync(join(root, "victim"), "untouched");
    symlinkSync(join(root, "victim"), join(root, "s"));
    await withDirectory({ root }, (directory) => writeFileAtomic({ directory, name: "s", data: "x", mode: 0o600 }));
    expect(readFileSync(join(root, "victim"), "utf8")).toBe("untouched");
    expect(readFileSync(join(root, "s"), "utf8")).toBe("x");
  });

  it("takes its temporary file away when the rename fails", async () => {
    const root = scratch();
    mkdirSync(join(root, "s"));
    await withDirectory({ root }, async (directory) => {
      await expect(writeFileAtomic({ directory, name: "s", data: "x", mode: 0o600 })).rejects.toThrow("EISDIR");
    });
    expect(readdirSync(root)).toEqual(["s"]);
  });

  it("removes what a crash left", async () => {
    const root = scratch();
    writeFileSync(join(root, ".nodelet-tmp-0011"), "half");
    writeFileSync(join(root, "keep"), "");
    expect(await withDirectory({ root }, (directory) => removeTemporaries(directory))).toBe(1);
    expect(readdirSync(root)).toEqual(["keep"]);
  });
});

describe("bounded reads", () => {
  it("reads up to the bound and refuses one byte more, before reading it", async () => {
    const root = scratch();
    writeFileSync(join(root, "f"), "12345");
    await withDirectory({ root }, async (directory) => {
      expect((await readFileBounded({ directory, name: "f", maxBytes: 5 })).toString()).toBe("12345");
      await expect(readFileBounded({ directory, name: "f", maxBytes: 4 })).rejects.toMatchObject({
        problem: "tooLarge",
      });
      truncateSync(join(root, "f"), 10 * 2 ** 30);
      await expect(readFileBounded({ directory, name: "f", maxBytes: 4 })).rejects.toMatchObject({
        problem: "tooLarge",
      });
    });
  });

  it("reads empty files and files whose size the kernel does not tell", async () => {
    const root = scratch();
    writeFileSync(join(root, "empty"), "");
    expect(await readPathBounded({ path: join(root, "empty"), maxBytes: 10 })).toHaveLength(0);
    expect((await readPathBounded({ path: "/proc/self/status", maxBytes: 100_000 })).toString()).toContain("VmRSS:");
    await expect(readPathBounded({ path: "/proc/self/status", maxBytes: 10 })).rejects.toMatchObject({
      problem: "tooLarge",
    });
  });

  it("reads a large file whole", async () => {
    const root = scratch();
    const content = Buffer.alloc(300_001, "abc");
    writeFileSync(join(root, "f"), content);
    expect((await readPathBounded({ path: join(root, "f"), maxBytes: 300_001 })).equals(content)).toBe(true);
  });

  it("follows the operator's links, but opens neither pipes nor directories behind them", async () => {
    const root = scratch();
    writeFileSync(join(root, "f"), "x");
    symlinkSync("f", join(root, "link"));
    makePipe(join(root, "pipe"));
    symlinkSync("pipe", join(root, "to-pipe"));
    expect((await readPathBounded({ path: join(root, "link"), maxBytes: 1 })).toString()).toBe("x");
    for (const path of [join(root, "to-pipe"), root, "/dev/zero"]) {
      await expect(readPathBounded({ path, maxBytes: 1 })).rejects.toMatchObject({ problem: "notRegular" });
    }
  });
});

describe("readTail and readAt", () => {
  it("gives the end and its offset, of sparse giants as well", async () => {
    const path = join(scratch(), "f");
    writeFileSync(path, "0123456789");
    const handle = await openRegularPath(path);
    try {
      expect(await readTail(handle, { maxBytes: 4 })).toEqual({ bytes: Buffer.from("6789"), offset: 6 });
      expect(await readTail(handle, { maxBytes: 40 })).toEqual({ bytes: Buffer.from("0123456789"), offset: 0 });
      expect((await readAt(handle, { offset: 8, length: 10 })).toString()).toBe("89");
      truncateSync(path, 10 * 2 ** 30);
      const tail = await readTail(handle, { maxBytes: 4 });
      expect(tail).toEqual({ bytes: Buffer.alloc(4), offset: 10 * 2 ** 30 - 4 });
    } finally {
      await handle.close();
    }
  });
});
