import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { DirectoryHint } from "@nodelet/core";
import { describe, expect, it, vi } from "vitest";
import { makePipe, scratchFolders } from "../scratch.test-support.ts";
import { InotifyDirectoryWatch } from "./inotify-directory-watch.ts";

const scratch = scratchFolders();
const watcher = new InotifyDirectoryWatch();

describe("look", () => {
  it("tells files, directories and all else, hidden ones too", async () => {
    const path = scratch();
    writeFileSync(join(path, "web.yaml"), "12345");
    writeFileSync(join(path, ".web.yaml.swp"), "");
    mkdirSync(join(path, "dir"));
    makePipe(join(path, "pipe"));
    symlinkSync("web.yaml", join(path, "link"));
    symlinkSync("none", join(path, "dangling"));
    symlinkSync("loop", join(path, "loop"));
    utimesSync(join(path, "web.yaml"), 1_700_000_000, 1_700_000_000);
    const look = await watcher.look({ path, maxEntries: 100 });
    const entries = look.kind === "directory" ? look.entries : [];
    expect(Object.fromEntries(entries.map(({ name, type }) => [name, type]))).toEqual({
      ".web.yaml.swp": "file",
      dangling: "other",
      dir: "directory",
      link: "file",
      loop: "other",
      pipe: "other",
      "web.yaml": "file",
    });
    const stats = statSync(join(path, "web.yaml"), { bigint: true });
    const expected = {
      sizeBytes: 5,
      mtimeMs: 1_700_000_000_000,
      fileId: `${stats.dev}:${stats.ino}:${stats.ctimeNs}`,
    };
    expect(entries.find(({ name }) => name === "web.yaml")).toMatchObject(expected);
    expect(entries.find(({ name }) => name === "link")).toMatchObject(expected);
  });

  it("passes over no file whose name is no text", async () => {
    const folder = scratch();
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0x2e, 0x79])]), "x");
    const look = await watcher.look({ path: folder, maxEntries: 10 });
    expect(look).toMatchObject({ kind: "directory", entries: [{ name: "\ufffd.y", type: "other" }] });
  });

  it("of a file, of nothing, of a pipe", async () => {
    const path = scratch();
    writeFileSync(join(path, "f"), "x");
    makePipe(join(path, "pipe"));
    expect(await watcher.look({ path: join(path, "f"), maxEntries: 1 })).toMatchObject({
      kind: "file",
      entry: { name: "f", type: "file", sizeBytes: 1 },
    });
    expect(await watcher.look({ path: join(path, "none"), maxEntries: 1 })).toEqual({ kind: "absent" });
    expect(await watcher.look({ path: join(path, "pipe"), maxEntries: 1 })).toEqual({ kind: "other" });
  });

  it("is bounded and can be cancelled", async () => {
    const path = scratch();
    for (const name of ["a", "b", "c"]) writeFileSync(join(path, name), "");
    await expect(watcher.look({ path, maxEntries: 2 })).rejects.toMatchObject({ kind: "resourceExhausted" });
    const signal = AbortSignal.abort();
    await expect(watcher.look({ path, maxEntries: 9, signal })).rejects.toMatchObject({ kind: "cancelled" });
  });
});

describe("read", () => {
  it("reads entries and the path itself, through links", async () => {
    const path = scratch();
    writeFileSync(join(path, "f"), "abc");
    symlinkSync("f", join(path, "link"));
    for (const request of [{ path, name: "f" }, { path, name: "link" }, { path: join(path, "f") }]) {
      const { bytes, entry } = await watcher.read({ ...request, maxBytes: 3 });
      expect(Buffer.from(bytes).toString()).toBe("abc");
      expect(entry).toMatchObject({ name: request.name ?? "f", type: "file", sizeBytes: 3 });
    }
  });

  it("shows by the entry that the file changed since the look", async () => {
    const path = scratch();
    writeFileSync(join(path, "f"), "abc");
    const before = await watcher.look({ path: join(path, "f"), maxEntries: 1 });
    await vi.waitFor(async () => {
      appendFileSync(join(path, "f"), "d");
      const { entry } = await watcher.read({ path, name: "f", maxBytes: 100 });
      expect(before).not.toEqual({ kind: "file", entry });
    });
  });

  it.each([
    ["a pipe", "pipe", "invalid"],
    ["a directory", "dir", "invalid"],
    ["a file that is too large", "large", "resourceExhausted"],
    ["nothing", "none", "notFound"],
    ["a name that climbs", "../x", "invalid"],
  ])("refuses %s", async (_, name, kind) => {
    const path = scratch();
    makePipe(join(path, "pipe"));
    mkdirSync(join(path, "dir"));
    writeFileSync(join(path, "large"), "12345");
    await expect(watcher.read({ path, name, maxBytes: 4 })).rejects.toMatchObject({ kind });
  });
});

/** Starts a watch; `hints` fills while it runs, `ended` settles with it. */
function start(path: string) {
  const controller = new AbortController();
  const hints: DirectoryHint[] = [];
  const ended = watcher.watch({ path, onChange: (hint) => hints.push(hint), signal: controller.signal });
  const outcome = ended.then(
    () => "resolved",
    (error: unknown) => error,
  );
  return { hints, ended, outcome, stop: () => controller.abort() };
}

/** Repeats a change until the watch, which starts in the background, has seen it. */
async function untilSeen(hints: DirectoryHint[], change: () => void, name?: string): Promise<void> {
  await vi.waitFor(
    () => {
      change();
      expect(hints.some((hint) => name === undefined || hint.name === name)).toBe(true);
    },
    { timeout: 5_000, interval: 20 },
  );
}

describe("watch", () => {
  it("hints at new, changed, renamed and removed entries, then resolves when told to stop", async () => {
    const path = scratch();
    const { hints, outcome, stop } = start(path);
    await untilSeen(hints, () => writeFileSync(join(path, "a"), String(Math.random())), "a");
    renameSync(join(path, "a"), join(path, "b"));
    await vi.waitFor(() => expect(hints).toContainEqual({ name: "b" }));
    rmSync(join(path, "b"));
    stop();
    expect(await outcome).toBe("resolved");
  });

  it("hints at a file that is written, and at one that replaces it", async () => {
    const path = scratch();
    writeFileSync(join(path, "f"), "");
    const { hints, outcome, stop } = start(join(path, "f"));
    await untilSeen(hints, () => appendFileSync(join(path, "f"), "x"), "f");
    hints.length = 0;
    writeFileSync(join(path, "other"), "");
    renameSync(join(path, "other"), join(path, "f"));
    await vi.waitFor(() => expect(hints).toContainEqual({ name: "f" }));
    hints.length = 0;
    appendFileSync(join(path, "f"), "x");
    await vi.waitFor(() => expect(hints).toContainEqual({ name: "f" }));
    stop();
    expect(await outcome).toBe("resolved");
  });

  it.each([
    ["removed", (path: string) => rmSync(path, { recursive: true })],
    ["renamed away", (path: string) => renameSync(path, `${path}-old`)],
    [
      "replaced by another",
      (path: string) => {
        mkdirSync(`${path}-new`);
        rmSync(path, { recursive: true });
        renameSync(`${path}-new`, path);
      },
    ],
  ])("rejects when its directory is %s", async (_, change) => {
    const path = join(scratch(), "manifests");
    mkdirSync(path);
    const { hints, outcome } = start(path);
    await untilSeen(hints, () => writeFileSync(join(path, "a"), String(Math.random())), "a");
    change(path);
    expect(await outcome).toMatchObject({ kind: "notFound" });
  });

  it("rejects when a link to the directory is turned elsewhere", async () => {
    const folder = scratch();
    for (const name of ["one", "two"]) mkdirSync(join(folder, name));
    symlinkSync("one", join(folder, "current"));
    const { hints, outcome } = start(join(folder, "current"));
    await untilSeen(hints, () => writeFileSync(join(folder, "one/a"), String(Math.random())), "a");
    symlinkSync("two", join(folder, "next"));
    renameSync(join(folder, "next"), join(folder, "current"));
    expect(await outcome).toMatchObject({ kind: "notFound" });
  });

  it("rejects at once when nothing is there, and resolves at once when already stopped", async () => {
    const path = join(scratch(), "none");
    await expect(start(path).ended).rejects.toMatchObject({ kind: "notFound" });
    await watcher.watch({ path, onChange: () => {}, signal: AbortSignal.abort() });
  });
});
