import { DevNodeError } from "../errors.ts";

/**
 * A copy of a User-mode Linux kernel program (x86-64, 6.1 to 6.12) that also runs on processors with a large
 * floating-point state, such as those with AMX.
 *
 * Those kernels keep 2696 bytes of state, enough up to AVX-512, and set it by ptrace(PTRACE_SETREGSET,
 * NT_X86_XSTATE). Linux refuses with EFAULT any set that is shorter than the processor's whole state, and the guest
 * dies at its first instruction. The patch leads the program's calls of ptrace through a few instructions of ours,
 * which turn such a set into "read the whole state, put the 2696 bytes over its beginning, set the whole state".
 */
export function patchStateRestore(program: Uint8Array): Uint8Array {
  const copy = Buffer.from(program);
  const elf = readElf(copy);
  const got = findGotSlot(copy, elf, "ptrace");
  const plt = findPltEntry(copy, elf, got);
  const cave = findCave({
    file: copy,
    segments: elf.filter(({ isExecutable }) => isExecutable),
    sizeBytes: hookCode.length + 6,
  });
  copy.set(hookCode, cave.offset);
  const flag = findCave({ file: copy, segments: elf.filter(({ isWritable }) => isWritable), sizeBytes: 1 });
  for (const { at, next } of flagReferences) {
    copy.writeInt32LE(flag.address - (cave.address + next), cave.offset + at);
  }
  const jumpAt = cave.address + hookCode.length;
  // jmp [rip + distance to the slot that holds the real ptrace]
  copy.set([0xff, 0x25], cave.offset + hookCode.length);
  copy.writeInt32LE(got - (jumpAt + 6), cave.offset + hookCode.length + 2);
  // The first six bytes of the PLT entry were the same jump; the rest, which binds lazily, stays in use.
  copy[plt.offset] = 0xe9;
  copy.writeInt32LE(cave.address - (plt.address + 5), plt.offset + 1);
  copy[plt.offset + 5] = 0x90;
  return copy;
}

/** Where the whole state is put together: below the program, which is linked to 0x60000000. */
const scratch = [0x00, 0x00, 0x00, 0x50];
const unset = [0, 0, 0, 0];

/** ptrace(edi request, esi pid, rdx address, rcx data): the jump to the real one follows the last instruction. */
const hookCode: readonly number[] = [
  ...[0x81, 0xff, 0x05, 0x42, 0, 0], //         cmp  edi, 0x4205      PTRACE_SETREGSET?
  ...[0x0f, 0x85, 0xbf, 0, 0, 0], //            jne  real
  ...[0x81, 0xfa, 0x02, 0x02, 0, 0], //         cmp  edx, 0x202       NT_X86_XSTATE?
  ...[0x0f, 0x85, 0xb3, 0, 0, 0], //            jne  real
  ...[0x51, 0x56], //                           push rcx; push rsi
  ...[0x80, 0x3d, ...unset, 0], //              cmp  byte [flag], 0   not the first time?
  ...[0x75, 0x5c], //                           jne  later
  ...[0xb8, 9, 0, 0, 0], //                     mov  eax, 9           mmap(
  ...[0xbf, ...scratch], //                     mov  edi, scratch       fixed address,
  ...[0xbe, 0, 0, 1, 0], //                     mov  esi, 0x10000       length,
  ...[0xba, 3, 0, 0, 0], //                     mov  edx, 3             readable and writable,
  ...[0x41, 0xba, 0x22, 0x00, 0x10, 0x00], //   mov  r10d, 0x100022     private, anonymous, FIXED_NOREPLACE,
  ...[0x49, 0xc7, 0xc0, 0xff, 0xff, 0xff, 0xff], // mov r8, -1          no file,
  ...[0x45, 0x31, 0xc9], //                     xor  r9d, r9d           0)
  ...[0x0f, 0x05], //                           syscall
  ...[0x41, 0xba, ...scratch], //               mov  r10d, scratch    an iovec lies there, the state after it
  ...[0x49, 0x8d, 0x42, 0x10], //               lea  rax, [r10+16]
  ...[0x49, 0x89, 0x02], //                     mov  [r10], rax
  ...[0x49, 0xc7, 0x42, 0x08, 0xf0, 0xff, 0, 0], // mov qword [r10+8], 0xfff0
  ...[0xb8, 101, 0, 0, 0], //                   mov  eax, 101         ptrace(
  ...[0xbf, 0x04, 0x42, 0, 0], //               mov  edi, 0x4204        PTRACE_GETREGSET,
  ...[0x48, 0x8b, 0x34, 0x24], //               mov  rsi, [rsp]         pid,
  ...[0xba, 0x02, 0x02, 0, 0], //               mov  edx, 0x202         NT_X86_XSTATE,
  ...[0x0f, 0x05], //                           syscall                 iovec): its length becomes the whole state's
  ...[0x48, 0x85, 0xc0], //                     test rax, rax
  ...[0x78, 0x47], //                           js   failed
  ...[0xc6, 0x05, ...unset, 1], //              mov  byte [flag], 1
  ...[0x41, 0xba, ...scratch], //       later:  mov  r10d, scratch
  ...[0x48, 0x8b, 0x4c, 0x24, 0x08], //         mov  rcx, [rsp+8]     the caller's iovec
  ...[0x48, 0x8b, 0x31], //                     mov  rsi, [rcx]
  ...[0x48, 0x8b, 0x49, 0x08], //               mov  rcx, [rcx+8]
  ...[0x49, 0x3b, 0x4a, 0x08], //               cmp  rcx, [r10+8]     the shorter of both lengths
  ...[0x49, 0x0f, 0x47, 0x4a, 0x08], //         cmova rcx, [r10+8]
  ...[0x49, 0x8d, 0x7a, 0x10], //               lea  rdi, [r10+16]
  ...[0xf3, 0xa4], //                           rep  movsb            what lies beyond stays in its initial state
  ...[0xb8, 101, 0, 0, 0], //                   mov  eax, 101         ptrace(PTRACE_SETREGSET, pid, NT_X86_XSTATE,
  ...[0xbf, 0x05, 0x42, 0, 0], //               mov  edi, 0x4205        iovec)
  ...[0x48, 0x8b, 0x34, 0x24], //               mov  rsi, [rsp]
  ...[0xba, 0x02, 0x02, 0, 0], //               mov  edx, 0x202
  ...[0x0f, 0x05], //                           syscall
  ...[0x48, 0x85, 0xc0], //                     test rax, rax
  ...[0x78, 0x05], //                           js   failed
  ...[0x5e, 0x59], //                           pop  rsi; pop rcx
  ...[0x31, 0xc0, 0xc3], //                     xor  eax, eax; ret
  ...[0x5e, 0x59], //                  failed:  pop  rsi; pop rcx     the real one sets errno
  ...[0xbf, 0x05, 0x42, 0, 0], //               mov  edi, 0x4205
  ...[0xba, 0x02, 0x02, 0, 0], //               mov  edx, 0x202
  // real:                                      jmp  [slot]
];

/** Places of the flag's distance in the code, and of the instruction that follows, from which it is counted. */
const flagReferences = [
  { at: 0x1c, next: 0x21 },
  { at: 0x7a, next: 0x7f },
];

interface Segment {
  type: number;
  isExecutable: boolean;
  isWritable: boolean;
  offset: number;
  address: number;
  fileBytes: number;
  memoryBytes: number;
}

/** Program headers of a 64-bit little-endian x86-64 executable (elf(5)). */
function readElf(file: Buffer): Segment[] {
  const isElf = file.length >= 64 && file.readUInt32BE(0) === 0x7f454c46 && file[4] === 2 && file[5] === 1;
  if (!isElf || file.readUInt16LE(18) !== 62) {
    throw unfit("it is not an x86-64 ELF program");
  }
  const [table, entryBytes, count] = [toNumber(file, 32), file.readUInt16LE(54), file.readUInt16LE(56)];
  return Array.from({ length: count }, (_, index) => {
    const entry = table + index * entryBytes;
    return {
      type: file.readUInt32LE(entry),
      isExecutable: (file.readUInt32LE(entry + 4) & 1) !== 0,
      isWritable: (file.readUInt32LE(entry + 4) & 2) !== 0,
      offset: toNumber(file, entry + 8),
      address: toNumber(file, entry + 16),
      fileBytes: toNumber(file, entry + 32),
      memoryBytes: toNumber(file, entry + 40),
    };
  });
}

const segmentType = { load: 1, dynamic: 2 };
const dynamicTag = { pltRelocationBytes: 2, stringTable: 5, symbolTable: 6, pltRelocations: 23 };

/** The address of the slot through which the program calls a function of the C library. */
function findGotSlot(file: Buffer, segments: readonly Segment[], name: string): number {
  const dynamic = segments.find(({ type }) => type === segmentType.dynamic);
  if (dynamic === undefined) {
    throw unfit("it is statically linked");
  }
  const tags = new Map<number, number>();
  for (let at = dynamic.offset; at < dynamic.offset + dynamic.fileBytes; at += 16) {
    tags.set(toNumber(file, at), toNumber(file, at + 8));
  }
  const place = (tag: number): number => toOffset(segments, tags.get(tag) ?? 0);
  const [relocations, symbols, strings] = [
    dynamicTag.pltRelocations,
    dynamicTag.symbolTable,
    dynamicTag.stringTable,
  ].map(place);
  const sizeBytes = tags.get(dynamicTag.pltRelocationBytes) ?? 0;
  for (let at = relocations ?? 0; at < (relocations ?? 0) + sizeBytes; at += 24) {
    const symbol = (symbols ?? 0) + file.readUInt32LE(at + 12) * 24;
    const start = (strings ?? 0) + file.readUInt32LE(symbol);
    if (file.toString("latin1", start, file.indexOf(0, start)) === name) {
      return toNumber(file, at);
    }
  }
  throw unfit(`it does not call ${name} of the C library`);
}

/** The linkage table's entry that jumps through the slot: `jmp [rip + distance]`. */
function findPltEntry(file: Buffer, segments: readonly Segment[], slot: number): { offset: number; address: number } {
  for (const segment of segments.filter(({ isExecutable, type }) => isExecutable && type === segmentType.load)) {
    const end = segment.offset + segment.fileBytes;
    for (
      let at = file.indexOf("ff25", segment.offset, "hex");
      at >= 0 && at < end - 6;
      at = file.indexOf("ff25", at + 1, "hex")
    ) {
      const address = segment.address + (at - segment.offset);
      // An entry goes on with a push of its index, for lazy binding.
      if (address + 6 + file.readInt32LE(at + 2) === slot && file[at + 6] === 0x68) {
        return { offset: at, address };
      }
    }
  }
  throw unfit("its linkage table has an unknown form");
}

/** Unused zero bytes in the last page of a segment: they are mapped with it. Runs of other segments' bytes are not zero. */
function findCave(options: { file: Buffer; segments: readonly Segment[]; sizeBytes: number }): {
  offset: number;
  address: number;
} {
  const { file, segments, sizeBytes } = options;
  for (const segment of segments) {
    const start = Math.ceil((segment.offset + segment.fileBytes) / 16) * 16;
    const pageEnd = Math.ceil(start / 4096) * 4096;
    const isFree = start + sizeBytes <= pageEnd && file.subarray(start, start + sizeBytes).every((byte) => byte === 0);
    // A segment that is larger in memory than in the file goes on there with variables.
    const isWhole = segment.type === segmentType.load && segment.memoryBytes === segment.fileBytes;
    if (isFree && isWhole && pageEnd <= file.length) {
      return { offset: start, address: segment.address + (start - segment.offset) };
    }
  }
  throw unfit("it has no room for the patch");
}

function toOffset(segments: readonly Segment[], address: number): number {
  const segment = segments.find(
    (each) => each.type === segmentType.load && address >= each.address && address < each.address + each.fileBytes,
  );
  if (segment === undefined) {
    throw unfit(`address 0x${address.toString(16)} is in no segment`);
  }
  return segment.offset + (address - segment.address);
}

function toNumber(file: Buffer, at: number): number {
  return Number(file.readBigUInt64LE(at));
}

function unfit(why: string): DevNodeError {
  return new DevNodeError("tool", `this User-mode Linux kernel cannot be patched: ${why}`);
}
