import { mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SafeDirectory, withDirectory } from "./safe-directory.ts";
import { makePipe, scratchFolders } from "./scratch.test-support.ts";

const scratch = scratchFolders();

describe("names", () => {
  it.each(["", ".", "..", "a/b", "/etc", "a\0b", "x".repeat(256), "é".repeat(128)])("refuses %j", async (name) => {
    const root = scratch();
    await withDirectory({ root }, async (directory) => {
      await expect(directory.look(name)).rejects.toMatchObject({ problem: "badName" });
      await expect(directory.ensureChild(name, { mode: 0o700 })).rejects.toMatchObject({ problem: "badName" });
      await expect(directory.rename({ from: "a", to: name })).rejects.toMatchObject({ problem: "badName" });
    });
  });

  it("takes names of 255 bytes and odd characters", async () => {
    await withDirectory({ root: scratch() }, async (directory) => {
      for (const name of ["x".repeat(255), "..data", " ", "a\nb", "é"]) {
        await directory.makeDirectory(name, { mode: 0o700 });
        expect((await directory.look(name))?.isDirectory()).toBe(true);
      }
    });
  });
});

describe("links", () => {
  it("follows a link to the root itself, as an operator may make one", async () => {
    const root = scratch();
    mkdirSync(join(root, "real"));
    symlinkSync(join(root, "real"), join(root, "link"));
    await withDirectory({ root: join(root, "link") }, (directory) => directory.makeDirectory("made", { mode: 0o700 }));
    expect(statSync(join(root, "real/made")).isDirectory()).toBe(true);
  });

  it("does not enter a linked directory, at any depth, also not to make something in it", async () => {
    const root = scratch();
    const outside = scratch();
    mkdirSync(join(root, "a"));
    symlinkSync(outside, join(root, "a/link"));
    await withDirectory({ root }, async (directory) => {
      await expect(directory.openDown(["a", "link"])).rejects.toMatchObject({ problem: "notDirectory" });
      await expect(directory.ensureDown(["a", "link", "new"], { mode: 0o700 })).rejects.toMatchObject({
        problem: "notDirectory",
      });
    });
    expect(() => statSync(join(outside, "new"))).toThrow("ENOENT");
  });

  it("keeps to the opened directory when its path is swapped for a link", async () => {
    const root = scratch();
    const outside = scratch();
    mkdirSync(join(root, "pod"));
    await withDirectory({ root, parts: ["pod"] }, async (pod) => {
      renameSync(join(root, "pod"), join(root, "moved"));
      symlinkSync(outside, join(root, "pod"));
      const file = await pod.createFile("f", { mode: 0o600 });
      await file.close();
      expect(await pod.unlink("g")).toBe(false);
    });
    expect(statSync(join(root, "moved/f")).isFile()).toBe(true);
    expect(() => statSync(join(outside, "f"))).toThrow("ENOENT");
  });
});

describe("openFile", () => {
  it.each(["read", "write", "readWrite"] as const)("never blocks on a pipe (%s)", async (access) => {
    const root = scratch();
    makePipe(join(root, "pipe"));
    await withDirectory({ root }, async (directory) => {
      await expect(directory.openFile("pipe", { access })).rejects.toMatchObject({ problem: "notRegular" });
    });
  });

  it("refuses links, directories and sockets", async () => {
    const root = scratch();
    writeFileSync(join(root, "secret"), "s");
    symlinkSync(join(root, "secret"), join(root, "link"));
    mkdirSync(join(root, "dir"));
    const server = createServer().listen(join(root, "sock"));
    await new Promise((done) => server.once("listening", done));
    await withDirectory({ root }, async (directory) => {
      await expect(directory.openFile("link", { access: "read" })).rejects.toMatchObject({ problem: "link" });
      await expect(directory.openFile("dir", { access: "read" })).rejects.toMatchObject({ problem: "notRegular" });
      await expect(directory.openFile("sock", { access: "read" })).rejects.toMatchObject({ problem: "notRegular" });
      await expect(directory.openFile("none", { access: "read" })).rejects.toMatchObject({ code: "ENOENT" });
    });
    await new Promise((done) => server.close(done));
  });

  it("writes through the descriptor", async () => {
    const root = scratch();
    writeFileSync(join(root, "f"), "old");
    await withDirectory({ root }, async (directory) => {
      const file = await directory.openFile("f", { access: "write" });
      await file.writeFile("new");
      await file.close();
    });
    expect(readFileSync(join(root, "f"), "utf8")).toBe("new");
  });
});

describe("modes", () => {
  it("gives new directories and files exactly the mode asked for, and leaves old ones alone", async () => {
    const root = scratch();
    mkdirSync(join(root, "old"), { mode: 0o700 });
    const before = process.umask(0o077);
    try {
      await withDirectory({ root }, async (directory) => {
        await (await directory.ensureChild("new", { mode: 0o755 })).close();
        await (await directory.ensureChild("old", { mode: 0o755 })).close();
        await (await directory.createFile("f", { mode: 0o666 })).close();
      });
    } finally {
      process.umask(before);
    }
    expect(["new", "old", "f"].map((name) => statSync(join(root, name)).mode & 0o777)).toEqual([0o755, 0o700, 0o666]);
  });
});

describe("bounds and repeats", () => {
  it("lists up to maxEntries and says so beyond", async () => {
    const root = scratch();
    for (let index = 0; index < 5; index += 1) writeFileSync(join(root, `f${index}`), "");
    await withDirectory({ root }, async (directory) => {
      expect(await directory.list({ maxEntries: 5 })).toHaveLength(5);
      await expect(directory.list({ maxEntries: 4 })).rejects.toMatchObject({ problem: "tooLarge" });
    });
  });

  it("answers false, not an error, for what is already gone", async () => {
    await withDirectory({ root: scratch() }, async (directory) => {
      expect(await directory.unlink("x")).toBe(false);
      expect(await directory.removeEmpty("x")).toBe(false);
      expect(await directory.look("x")).toBeUndefined();
      expect(await directory.readLink("x")).toBeUndefined();
    });
  });

  it("closes what it opened, also when opening fails", async () => {
    const root = scratch();
    mkdirSync(join(root, "a/b"), { recursive: true });
    const descriptors = () =>
      withDirectory({ root: "/proc/self/fd" }, (directory) => directory.list()).then((l) => l.length);
    const before = await descriptors();
    for (let round = 0; round < 20; round += 1) {
      await withDirectory({ root, parts: ["a", "b"] }, async () => undefined);
      await expect(withDirectory({ root, parts: ["a", "none", "c"] }, async () => undefined)).rejects.toThrow("ENOENT");
    }
    expect(await descriptors()).toBe(before);
    rmSync(join(root, "a"), { recursive: true });
  });

  it("fails with the system's error when the root is absent", async () => {
    await expect(SafeDirectory.open(join(scratch(), "none"))).rejects.toMatchObject({ code: "ENOENT" });
  });
});
