import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { removeTree } from "./remove-tree.ts";
import { withDirectory } from "./safe-directory.ts";
import { makePipe, scratchFolders } from "./scratch.test-support.ts";

const scratch = scratchFolders();
const remove = (root: string, name: string, signal?: AbortSignal) =>
  withDirectory({ root }, (directory) => removeTree({ directory, name, ...(signal && { signal }) }));

describe("removeTree", () => {
  it("removes files, directories, links, pipes; answers false when nothing is there", async () => {
    const root = scratch();
    mkdirSync(join(root, "t/a/b"), { recursive: true });
    writeFileSync(join(root, "t/a/b/f"), "");
    makePipe(join(root, "t/a/pipe"));
    symlinkSync("/nowhere", join(root, "t/dangling"));
    expect(await remove(root, "t")).toBe(true);
    expect(readdirSync(root)).toEqual([]);
    expect(await remove(root, "t")).toBe(false);
  });

  it("removes links without touching what they lead to, also when the tree itself is one", async () => {
    const root = scratch();
    const outside = scratch();
    writeFileSync(join(outside, "sentinel"), "alive");
    mkdirSync(join(root, "t"));
    symlinkSync(outside, join(root, "t/link"));
    symlinkSync(outside, join(root, "l"));
    await remove(root, "t");
    await remove(root, "l");
    expect(readFileSync(join(outside, "sentinel"), "utf8")).toBe("alive");
    expect(readdirSync(root)).toEqual([]);
  });

  it("removes names that are not UTF-8, with newlines, and very long ones", async () => {
    const root = scratch();
    mkdirSync(join(root, "t"));
    writeFileSync(Buffer.concat([Buffer.from(`${root}/t/`), Buffer.from([0xff, 0xfe, 0x0a])]), "");
    mkdirSync(Buffer.concat([Buffer.from(`${root}/t/`), Buffer.from([0xc3, 0x28])]));
    writeFileSync(join(root, "t", "x".repeat(255)), "");
    await remove(root, "t");
    expect(readdirSync(root)).toEqual([]);
  });

  it("removes a tree far deeper than PATH_MAX with few descriptors", async () => {
    const root = scratch();
    // 400 levels of 100 bytes: the path is 40 kB long. The shell walks down by relative steps.
    execFileSync("sh", [
      "-c",
      `cd "$1" && mkdir t && cd t && for i in $(seq 400); do mkdir ${"d".repeat(100)} && cd -P ${"d".repeat(100)} || exit 1; done`,
      "sh",
      root,
    ]);
    await remove(root, "t");
    expect(readdirSync(root)).toEqual([]);
  });

  it("removes more entries than one batch holds", async () => {
    const root = scratch();
    mkdirSync(join(root, "t"));
    for (let index = 0; index < 3000; index += 1) writeFileSync(join(root, `t/f${index}`), "");
    await remove(root, "t");
    expect(readdirSync(root)).toEqual([]);
  });

  it("refuses to enter a bind mount of the same file system", async () => {
    const root = scratch();
    mkdirSync(join(root, "t/volume"), { recursive: true });
    mkdirSync(join(root, "data"));
    writeFileSync(join(root, "data/sentinel"), "alive");
    execFileSync("mount", ["--bind", join(root, "data"), join(root, "t/volume")]);
    try {
      await expect(remove(root, "t")).rejects.toMatchObject({ problem: "mountPoint", path: join(root, "t/volume") });
      expect(readFileSync(join(root, "data/sentinel"), "utf8")).toBe("alive");
    } finally {
      execFileSync("umount", [join(root, "t/volume")]);
    }
    expect(await remove(root, "t")).toBe(true);
    expect(readFileSync(join(root, "data/sentinel"), "utf8")).toBe("alive");
  });

  it("refuses when the tree itself is a mount point, and a mounted file", async () => {
    const root = scratch();
    mkdirSync(join(root, "t"));
    mkdirSync(join(root, "u"));
    writeFileSync(join(root, "u/target"), "");
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", join(root, "t")]);
    execFileSync("mount", ["--bind", "/etc/hostname", join(root, "u/target")]);
    try {
      await expect(remove(root, "t")).rejects.toMatchObject({ problem: "mountPoint" });
      await expect(remove(root, "u")).rejects.toMatchObject({ problem: "mountPoint" });
    } finally {
      execFileSync("umount", [join(root, "t")]);
      execFileSync("umount", [join(root, "u/target")]);
    }
  });

  it("stops when told to", async () => {
    const root = scratch();
    mkdirSync(join(root, "t/a"), { recursive: true });
    await expect(remove(root, "t", AbortSignal.abort())).rejects.toThrow("aborted");
    expect(readdirSync(root)).toEqual(["t"]);
  });
});
