/** The processors that images are made for, in Node's spelling. */
export type ImageArch = "x64" | "arm64";

/**
 * The program of the sandbox image: process 1 of a pod's namespaces, as a static ELF executable of about 220 bytes.
 * It collects orphans, ends at once on SIGTERM and SIGINT, and otherwise sleeps. It is machine code, since a bare
 * machine has no compiler and the start of this process counts in every pod's start: no library, no heap, no stack.
 *
 *     block SIGINT, SIGTERM, SIGCHLD     (a blocked signal stays pending even for process 1, for which the kernel
 *     wait: rt_sigtimedwait(set)          drops every signal that has no handler)
 *           SIGCHLD -> wait4(-1, WNOHANG) until no dead child is left, then wait
 *           error   -> wait              (interrupted by SIGCONT)
 *           else    -> exit_group(0)
 */
export function createPauseProgram(arch: ImageArch): Uint8Array {
  return arch === "x64"
    ? createElf({ machine: elfMachine.x64, code: x64Code })
    : createElf({ machine: elfMachine.arm64, code: wordsToBytes(arm64Code) });
}

/** e_machine of the ELF header: EM_X86_64 and EM_AARCH64. */
const elfMachine = { x64: 62, arm64: 183 };

/** 1 << (signal - 1) for SIGINT 2, SIGTERM 15 and SIGCHLD 17, as the kernel's 64-bit signal set. */
const signalSet = [0x02, 0x40, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00];

const x64Code: readonly number[] = [
  ...[0xb8, 14, 0, 0, 0], //               0  mov  eax, 14          rt_sigprocmask(
  ...[0x31, 0xff], //                         xor  edi, edi           SIG_BLOCK,
  ...[0x48, 0x8d, 0x35, 0x50, 0, 0, 0], //    lea  rsi, [rip+0x50]    &set,
  ...[0x31, 0xd2], //                         xor  edx, edx           NULL,
  ...[0x41, 0xba, 8, 0, 0, 0], //             mov  r10d, 8            8)
  ...[0x0f, 0x05], //                         syscall
  ...[0xb8, 128, 0, 0, 0], //    wait:  0x18  mov  eax, 128         rt_sigtimedwait(
  ...[0x48, 0x8d, 0x3d, 0x3a, 0, 0, 0], //    lea  rdi, [rip+0x3a]    &set,
  ...[0x31, 0xf6], //                         xor  esi, esi           NULL,
  ...[0x31, 0xd2], //                         xor  edx, edx           NULL (no time limit),
  ...[0x41, 0xba, 8, 0, 0, 0], //             mov  r10d, 8            8)
  ...[0x0f, 0x05], //                         syscall
  ...[0x83, 0xf8, 17], //                     cmp  eax, 17          SIGCHLD?
  ...[0x74, 0x0d], //                         je   reap
  ...[0x85, 0xc0], //                         test eax, eax         an error?
  ...[0x78, 0xdf], //                         js   wait
  ...[0xb8, 231, 0, 0, 0], //                 mov  eax, 231         exit_group(
  ...[0x31, 0xff], //                         xor  edi, edi           0)
  ...[0x0f, 0x05], //                         syscall
  ...[0xb8, 61, 0, 0, 0], //     reap:  0x42  mov  eax, 61          wait4(
  ...[0xbf, 0xff, 0xff, 0xff, 0xff], //       mov  edi, -1            any child,
  ...[0x31, 0xf6], //                         xor  esi, esi           NULL,
  ...[0xba, 1, 0, 0, 0], //                   mov  edx, 1             WNOHANG,
  ...[0x45, 0x31, 0xd2], //                   xor  r10d, r10d         NULL)
  ...[0x0f, 0x05], //                         syscall
  ...[0x85, 0xc0], //                         test eax, eax         one collected?
  ...[0x7f, 0xe6], //                         jg   reap
  ...[0xeb, 0xba], //                         jmp  wait
  ...signalSet, //               set:   0x5e
];

const arm64Code: readonly number[] = [
  0xd28010e8, //        0  mov  x8, #135        rt_sigprocmask(
  0xd2800000, //           mov  x0, #0            SIG_BLOCK,
  0x10000321, //           adr  x1, set           &set,
  0xd2800002, //           mov  x2, #0            NULL,
  0xd2800103, //           mov  x3, #8            8)
  0xd4000001, //           svc  #0
  0xd2801128, // wait:     mov  x8, #137        rt_sigtimedwait(
  0x10000280, //           adr  x0, set           &set,
  0xd2800001, //           mov  x1, #0            NULL,
  0xd2800002, //           mov  x2, #0            NULL (no time limit),
  0xd2800103, //           mov  x3, #8            8)
  0xd4000001, //           svc  #0
  0xf100441f, //           cmp  x0, #17         SIGCHLD?
  0x540000a0, //           b.eq reap
  0xb7ffff00, //           tbnz x0, #63, wait   an error?
  0xd2800bc8, //           mov  x8, #94         exit_group(
  0xd2800000, //           mov  x0, #0            0)
  0xd4000001, //           svc  #0
  0xd2802088, // reap:     mov  x8, #260        wait4(
  0x92800000, //           mov  x0, #-1           any child,
  0xd2800001, //           mov  x1, #0            NULL,
  0xd2800022, //           mov  x2, #1            WNOHANG,
  0xd2800003, //           mov  x3, #0            NULL)
  0xd4000001, //           svc  #0
  0xf100001f, //           cmp  x0, #0          one collected?
  0x54ffff2c, //           b.gt reap
  0x17ffffec, //           b    wait
  0x00014002, // set:      signalSet, low word
  0x00000000, //           signalSet, high word
];

function wordsToBytes(words: readonly number[]): number[] {
  return words.flatMap((word) => [word & 0xff, (word >>> 8) & 0xff, (word >>> 16) & 0xff, word >>> 24]);
}

/** The smallest static executable: ELF header, one loadable read-only segment of the whole file, code (elf(5)). */
function createElf(options: { machine: number; code: readonly number[] }): Uint8Array {
  const [headerBytes, programHeaderBytes, loadAddress] = [64, 56, 0x400000];
  const codeOffset = headerBytes + programHeaderBytes;
  const file = Buffer.alloc(codeOffset + options.code.length);
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]); // magic, 64 bit, little endian, version 1, System V ABI
  file.writeUInt16LE(2, 16); // e_type: executable
  file.writeUInt16LE(options.machine, 18);
  file.writeUInt32LE(1, 20); // e_version
  file.writeUInt32LE(loadAddress + codeOffset, 24); // e_entry
  file.writeUInt32LE(headerBytes, 32); // e_phoff
  file.writeUInt16LE(headerBytes, 52);
  file.writeUInt16LE(programHeaderBytes, 54);
  file.writeUInt16LE(1, 56); // e_phnum
  file.writeUInt32LE(1, 64); // p_type: load
  file.writeUInt32LE(5, 68); // p_flags: readable, executable
  file.writeUInt32LE(loadAddress, 80); // p_vaddr
  file.writeUInt32LE(loadAddress, 88); // p_paddr
  file.writeUInt32LE(file.length, 96); // p_filesz
  file.writeUInt32LE(file.length, 104); // p_memsz
  file.writeUInt32LE(0x10000, 112); // p_align: the largest page of both architectures
  file.set(options.code, codeOffset);
  return file;
}
