import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { patchStateRestore } from "./kernel-patch.ts";

/** Addresses of the made-up program below. */
const base = 0x60000000;
const slot = 0x60003008;
const pltEntry = 0x60001020;

/**
 * A program of four pages that calls ptrace through a linkage table: headers and dynamic section, code, a page that is
 * writable, and one with the slot.
 */
function makeProgram(options: { calls?: string; hasRoom?: boolean } = {}): Buffer {
  const file = Buffer.alloc(0x4000);
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  file.writeUInt16LE(62, 18);
  file.writeBigUInt64LE(64n, 32);
  file.writeUInt16LE(56, 54);
  file.writeUInt16LE(5, 56);
  const codeBytes = options.hasRoom === false ? 0x1000 : 0x100;
  const segments = [
    { type: 1, flags: 4, offset: 0, fileBytes: 0x1000 },
    { type: 1, flags: 5, offset: 0x1000, fileBytes: codeBytes },
    { type: 1, flags: 6, offset: 0x2000, fileBytes: 0x800 },
    { type: 1, flags: 6, offset: 0x3000, fileBytes: 0x1000 },
    { type: 2, flags: 6, offset: 0x200, fileBytes: 80 },
  ];
  segments.forEach(({ type, flags, offset, fileBytes }, index) => {
    const at = 64 + index * 56;
    file.writeUInt32LE(type, at);
    file.writeUInt32LE(flags, at + 4);
    [offset, base + offset, base + offset, fileBytes, fileBytes].forEach((value, field) => {
      file.writeBigUInt64LE(BigInt(value), at + 8 + field * 8);
    });
  });
  const tags = [
    [2, 24],
    [5, base + 0x400],
    [6, base + 0x500],
    [23, base + 0x600],
    [0, 0],
  ];
  tags.flat().forEach((value, index) => {
    file.writeBigUInt64LE(BigInt(value), 0x200 + index * 8);
  });
  file.write(`\0${options.calls ?? "ptrace"}\0`, 0x400, "latin1");
  file.writeUInt32LE(1, 0x500 + 24); // symbol 1: its name begins at byte 1
  file.writeBigUInt64LE(BigInt(slot), 0x600);
  file.writeUInt32LE(7, 0x608); // jump slot
  file.writeUInt32LE(1, 0x60c); // of symbol 1
  file.set([0xff, 0x25], 0x1020);
  file.writeInt32LE(slot - (pltEntry + 6), 0x1022);
  file[0x1026] = 0x68;
  return file;
}

describe("patchStateRestore", () => {
  it("leads the linkage table's entry to the hook, and the hook's end to the real function", () => {
    const original = makeProgram();
    const patched = Buffer.from(patchStateRestore(original));
    // The first free place after 0x100 bytes of code is 0x1100: jmp there, from the end of the five-byte instruction.
    expect([...patched.subarray(0x1020, 0x1021)]).toEqual([0xe9]);
    expect(pltEntry + 5 + patched.readInt32LE(0x1021)).toBe(base + 0x1100);
    // Lazy binding goes on with the push at the seventh byte.
    expect(patched[0x1026]).toBe(0x68);
    // The hook begins by comparing the request with PTRACE_SETREGSET, 0x4205 (ptrace.h).
    expect(patched.subarray(0x1100, 0x1106).toString("hex")).toBe("81ff05420000");
    const end = 0x1100 + 0xcb;
    expect(patched.subarray(end, end + 2).toString("hex")).toBe("ff25");
    expect(base + end + 6 + patched.readInt32LE(end + 2)).toBe(slot);
    // Both uses of the flag mean the first free byte of the writable page.
    expect(base + 0x1100 + 0x21 + patched.readInt32LE(0x1100 + 0x1c)).toBe(base + 0x2800);
    expect(base + 0x1100 + 0x7f + patched.readInt32LE(0x1100 + 0x7a)).toBe(base + 0x2800);
    expect(Buffer.compare(original, makeProgram())).toBe(0);
  });

  it("has jumps that land on instructions: real, later and failed", () => {
    const hook = Buffer.from(patchStateRestore(makeProgram())).subarray(0x1100);
    // jne rel32 at 6 and 0x12 to the final jmp; jne rel8 at 0x21 to "mov r10d"; js rel8 at 0x76 and 0xb8 to "pop rsi".
    expect(6 + 6 + hook.readInt32LE(8)).toBe(0xcb);
    expect(0x12 + 6 + hook.readInt32LE(0x14)).toBe(0xcb);
    expect([0x23 + hook.readInt8(0x22), hook.readUInt16LE(0x7f)]).toEqual([0x7f, 0xba41]);
    expect([0x78 + hook.readInt8(0x77), 0xba + hook.readInt8(0xb9), hook[0xbf]]).toEqual([0xbf, 0xbf, 0x5e]);
  });

  it.each([
    ["no ELF program", Buffer.from("#!/bin/sh\n"), /not an x86-64 ELF program/],
    ["another function", makeProgram({ calls: "getpid" }), /does not call ptrace/],
    ["no room", makeProgram({ hasRoom: false }), /no room for the patch/],
  ])("refuses %s", (_, program, message) => {
    expect(() => patchStateRestore(program)).toThrow(message);
  });

  it.runIf(process.platform === "linux" && process.arch === "x64")("refuses a program that is no such kernel", () => {
    expect(() => patchStateRestore(readFileSync("/bin/true"))).toThrow(/cannot be patched/);
  });
});
