import { mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeDirectories } from "./make-directories.ts";
import { scratchFolders } from "./scratch.test-support.ts";

const scratch = scratchFolders();
const mode = (path: string): number => statSync(path).mode & 0o777;

describe("makeDirectories", () => {
  it("makes what is missing with its mode and leaves the rest", () => {
    const root = scratch();
    mkdirSync(join(root, "a"), { mode: 0o700 });
    makeDirectories(join(root, "a/b/c"), { mode: 0o750 });
    makeDirectories(join(root, "a/b/c"), { mode: 0o711 });
    expect(["a", "a/b", "a/b/c"].map((path) => mode(join(root, path)))).toEqual([0o700, 0o750, 0o750]);
    symlinkSync("a/b", join(root, "link"));
    makeDirectories(join(root, "link"), { mode: 0o750 });
    makeDirectories(join(root, "link/d"), { mode: 0o750 });
    expect(mode(join(root, "a/b/d"))).toBe(0o750);
  });

  it.each([
    ["a file", "file", "EEXIST"],
    ["below a file", "file/sub/sub", "ENOTDIR"],
    ["a link to nowhere", "nowhere", "EEXIST"],
    ["below a link to itself", "loop/sub", "ELOOP"],
  ])("refuses %s", (_, name, code) => {
    const root = scratch();
    writeFileSync(join(root, "file"), "");
    symlinkSync("/no/such/place", join(root, "nowhere"));
    symlinkSync("loop", join(root, "loop"));
    expect(() => makeDirectories(join(root, name), { mode: 0o750 })).toThrow(expect.objectContaining({ code }));
  });

  // mkdir(2) in /proc answers ENOENT although /proc is there.
  it.each(["/proc/nodelet-test", "/proc/nodelet-test/sub"])("gives up on %s", (path) => {
    expect(() => makeDirectories(path, { mode: 0o750 })).toThrow(expect.objectContaining({ code: "ENOENT" }));
  });
});
