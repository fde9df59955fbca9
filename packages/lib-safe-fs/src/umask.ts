import { readFileSync } from "node:fs";

/**
 * What the kernel makes of a mode when this process makes a file now. `process.umask()` cannot be used to ask: it sets the umask to zero for
 * an instant, and a file that another thread makes in it is open to everybody.
 */
export function modeAfterUmask(mode: number): number {
  const octal = /^Umask:\s*([0-7]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  // Kernels before 4.7 do not tell; taken as if all were masked, the mode is set by hand.
  return octal === undefined ? 0 : mode & ~Number.parseInt(octal, 8);
}
