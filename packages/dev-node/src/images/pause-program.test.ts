import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createPauseProgram } from "./pause-program.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nodelet-pause-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function writeProgram(): string {
  const path = join(folder, "pause");
  writeFileSync(path, createPauseProgram(process.arch === "arm64" ? "arm64" : "x64"), { mode: 0o755 });
  return path;
}

describe("createPauseProgram", () => {
  it.each([
    // elf(5): class 64 bit, little endian; e_type executable; e_machine 62 x86-64, 183 AArch64.
    { arch: "x64", machine: 62, sizeBytes: 64 + 56 + 0x66 },
    { arch: "arm64", machine: 183, sizeBytes: 64 + 56 + 0x74 },
  ] as const)("is an ELF executable for $arch", ({ arch, machine, sizeBytes }) => {
    const program = Buffer.from(createPauseProgram(arch));
    expect([...program.subarray(0, 6)]).toEqual([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
    expect(program.readUInt16LE(16)).toBe(2);
    expect(program.readUInt16LE(18)).toBe(machine);
    expect(program.length).toBe(sizeBytes);
    // The code ends with the signal set: bits 1, 14 and 16 for SIGINT, SIGTERM, SIGCHLD.
    expect(program.readBigUInt64LE(sizeBytes - 8)).toBe((1n << 1n) | (1n << 14n) | (1n << 16n));
  });

  it.runIf(process.platform === "linux").each(["SIGTERM", "SIGINT"] as const)("ends with 0 on %s", async (signal) => {
    const child = spawn(writeProgram(), { stdio: "ignore" });
    await once(child, "spawn");
    await expect.poll(() => isAsleep(child.pid)).toBe(true);
    child.kill(signal);
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  it.runIf(process.platform === "linux")("goes on after SIGSTOP and SIGCONT", async () => {
    const child = spawn(writeProgram(), { stdio: "ignore" });
    await expect.poll(() => isAsleep(child.pid)).toBe(true);
    child.kill("SIGSTOP");
    child.kill("SIGCONT");
    await expect.poll(() => isAsleep(child.pid)).toBe(true);
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  });
});

function isAsleep(pid: number | undefined): boolean {
  return execFileSync("cat", [`/proc/${pid}/stat`])
    .toString()
    .includes("(pause) S");
}
