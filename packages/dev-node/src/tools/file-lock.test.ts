import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { identifyProcess } from "../processes.ts";
import { withFileLock } from "./file-lock.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nodelet-lock-"));
  path = join(folder, "a.lock");
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("withFileLock", () => {
  it("lets one in at a time", async () => {
    const log: string[] = [];
    const enter = (name: string): Promise<void> =>
      withFileLock({ path, timeoutMs: 10_000, log: () => {} }, async () => {
        log.push(`${name} in`);
        await new Promise((resolve) => setImmediate(resolve));
        log.push(`${name} out`);
      });
    await Promise.all([enter("a"), enter("b"), enter("c")]);
    expect(log.filter((_, index) => index % 2 === 0).map((line) => line.replace("in", "out"))).toEqual(
      log.filter((_, index) => index % 2 === 1),
    );
    expect(log).toHaveLength(6);
  });

  it("takes over the lock of a process that died", async () => {
    const { pid } = spawnSync("true");
    writeFileSync(path, JSON.stringify({ pid, startTicks: "1" }));
    await expect(withFileLock({ path, timeoutMs: 10_000, log: () => {} }, async () => "in")).resolves.toBe("in");
  });

  it("takes over the lock of a dead process whose id another process has now", async () => {
    writeFileSync(path, JSON.stringify({ pid: process.pid, startTicks: "1" }));
    await expect(withFileLock({ path, timeoutMs: 10_000, log: () => {} }, async () => "in")).resolves.toBe("in");
  });

  it("gives up with the holder's id when the time is over", async () => {
    writeFileSync(path, JSON.stringify(await identifyProcess(process.pid)));
    await expect(withFileLock({ path, timeoutMs: 0, log: () => {} }, async () => "in")).rejects.toThrow(
      `${path} is held by process ${process.pid}`,
    );
  });

  it("gives the lock back when the action fails", async () => {
    const fail = withFileLock({ path, timeoutMs: 0, log: () => {} }, () => Promise.reject(new Error("inner")));
    await expect(fail).rejects.toThrow("inner");
    await expect(withFileLock({ path, timeoutMs: 0, log: () => {} }, async () => "in")).resolves.toBe("in");
  });
});
