import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { acquireLock, type FileLock, LockUnavailableError, socketLockPath } from "./file-lock.ts";
import { nativeCapabilities } from "./native-programs.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "nodelet-lock-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const details = { rootDir: "/var/lib/a" };

async function hold(path: string): Promise<FileLock> {
  const outcome = await acquireLock({ path, details });
  if (!outcome.held) throw new Error("the lock was taken");
  return outcome.lock;
}

/** Another process that takes the lock, says so, and waits. */
async function holdElsewhere(path: string) {
  const source = `import { acquireLock } from ${JSON.stringify(join(import.meta.dirname, "file-lock.ts"))};
    const outcome = await acquireLock({ path: ${JSON.stringify(path)}, details: { rootDir: "/other" } });
    console.log(outcome.held);
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--conditions=nodelet-source", "--input-type=module", "-e", source], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const said = await new Promise<string>((resolve) =>
    child.stdout.once("data", (data) => resolve(String(data).trim())),
  );
  return { said, pid: child.pid, kill: () => new Promise((done) => child.once("exit", done) && child.kill("SIGKILL")) };
}

describe("acquireLock", () => {
  it("is exclusive, tells the holder, and is free again after release", async () => {
    const path = join(folder, "l");
    const lock = await hold(path);
    expect(await acquireLock({ path, details: {} })).toEqual({ held: false, holder: { pid: process.pid, details } });
    lock.release();
    lock.release();
    expect(readdirSync(folder)).toEqual([]);
    (await hold(path)).release();
  });

  it("ends with kill -9 of the holder, at once", async () => {
    const path = join(folder, "l");
    const other = await holdElsewhere(path);
    expect(other.said).toBe("true");
    expect(await acquireLock({ path, details })).toEqual({
      held: false,
      holder: { pid: other.pid, details: { rootDir: "/other" } },
    });
    await other.kill();
    expect(existsSync(path)).toBe(true);
    const lock = await hold(path);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ pid: process.pid, details });
    lock.release();
  });

  it("is not passed on to the children of the holder", async () => {
    const path = join(folder, "l");
    const lock = await hold(path);
    const child = spawn("sleep", ["30"], { stdio: "ignore" });
    try {
      lock.release();
      const again = await acquireLock({ path, details });
      expect(again.held).toBe(true);
      if (again.held) again.lock.release();
    } finally {
      child.kill("SIGKILL");
    }
  });

  it("goes to exactly one of many at a time, while holders release and files vanish", async () => {
    const path = join(folder, "l");
    let holders = 0;
    let worst = 0;
    let won = 0;
    const contend = async () => {
      for (let round = 0; round < 6; round += 1) {
        const outcome = await acquireLock({ path, details });
        if (!outcome.held) continue;
        won += 1;
        holders += 1;
        worst = Math.max(worst, holders);
        await new Promise((done) => setImmediate(done));
        holders -= 1;
        outcome.lock.release();
      }
    };
    await Promise.all(Array.from({ length: 6 }, contend));
    expect(won).toBeGreaterThan(0);
    expect(worst).toBe(1);
  });

  it.each([
    ["garbage", "\0\0not json"],
    ["nothing", ""],
    ["no details", '{"pid":1}'],
    ["a list", "[]"],
  ])("answers an unknown holder when the file holds %s", async (_, content) => {
    const path = join(folder, "l");
    const lock = await hold(path);
    writeFileSync(path, content);
    expect(await acquireLock({ path, details })).toEqual({ held: false, holder: undefined });
    lock.release();
  });

  it("makes missing directories only when told", async () => {
    const path = join(folder, "a/b/l");
    await expect(acquireLock({ path, details })).rejects.toMatchObject({ code: "ENOENT" });
    const outcome = await acquireLock({ path, details, directoryMode: 0o711 });
    expect(outcome.held).toBe(true);
    if (outcome.held) outcome.lock.release();
  });

  it("follows no link and locks no pipe", async () => {
    symlinkSync(join(folder, "victim"), join(folder, "l"));
    await expect(acquireLock({ path: join(folder, "l"), details })).rejects.toMatchObject({ code: "ELOOP" });
    expect(existsSync(join(folder, "victim"))).toBe(false);
    mkdirSync(join(folder, "d"));
    await expect(acquireLock({ path: join(folder, "d"), details })).rejects.toMatchObject({ code: "EISDIR" });
  });

  it("says what is wrong with the helper program", async () => {
    const path = join(folder, "l");
    await expect(acquireLock({ path, details, flockPath: join(folder, "none") })).rejects.toThrow(
      /none: cannot be run/,
    );
    await expect(acquireLock({ path, details, flockPath: "/bin/ls" })).rejects.toThrow(LockUnavailableError);
    const capabilities = await nativeCapabilities({ searchPath: folder });
    expect(capabilities.flock).toEqual({ found: false, reason: expect.stringContaining("util-linux") });
  });
});

describe("socketLockPath", () => {
  it("meets at one file through links to the folder and to the socket", async () => {
    mkdirSync(join(folder, "run"));
    symlinkSync("run", join(folder, "var-run"));
    writeFileSync(join(folder, "run/c.sock"), "");
    symlinkSync("run/c.sock", join(folder, "alias.sock"));
    const expected = join(folder, "run/c.sock.nodelet.lock");
    for (const socketPath of ["run/c.sock", "var-run/c.sock", "alias.sock"]) {
      expect(await socketLockPath({ socketPath: join(folder, socketPath) })).toBe(expected);
    }
    rmSync(join(folder, "run/c.sock"));
    expect(await socketLockPath({ socketPath: join(folder, "var-run/c.sock") })).toBe(expected);
    expect(await socketLockPath({ socketPath: "/no/such/c.sock" })).toBe("/no/such/c.sock.nodelet.lock");
  });
});
