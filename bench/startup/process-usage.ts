import { readFile } from "node:fs/promises";

/** USER_HZ: the kernel's interface has it fixed at 100 on every architecture that Node.js runs on. */
const TICK_MS = 10;

/** CPU time that a process has taken so far, user and system with all its threads, in milliseconds. */
export async function cpuTimeMs(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8");
  // The second field is the program's name in parentheses, which may hold anything; the third begins after it.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** Resident memory of a process in megabytes (10^6 bytes). */
export async function residentMegabytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, "utf8");
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1];
  if (kilobytes === undefined) throw new Error(`/proc/${pid}/status shows no VmRSS`);
  return (Number(kilobytes) * 1024) / 1e6;
}
