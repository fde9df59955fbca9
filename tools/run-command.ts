import { spawn } from "node:child_process";

/** What a command did: its exit code (128 when a signal ended it), all that it wrote in order, and whether time ran out. */
export interface CommandResult {
  code: number;
  output: string;
  timedOut: boolean;
}

/** Between asking a command to end and ending it. */
const graceMs = 10_000;

/**
 * Runs a command to its end and keeps what it writes; with `show`, passes it on instead. After `limitMs` it is asked to
 * end with SIGTERM, and killed when it does not.
 */
export function runCommand(
  command: readonly [string, ...string[]],
  options: { cwd: string; env?: NodeJS.ProcessEnv; show?: boolean; limitMs?: number },
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const [program, ...args] = command;
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ["ignore", options.show ? "inherit" : "pipe", options.show ? "inherit" : "pipe"],
    });
    const chunks: Buffer[] = [];
    child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stderr?.on("data", (chunk: Buffer) => chunks.push(chunk));
    let timedOut = false;
    const timers: NodeJS.Timeout[] = [];
    if (options.limitMs !== undefined) {
      const end = (): void => {
        timedOut = true;
        child.kill("SIGTERM");
        timers.push(setTimeout(() => child.kill("SIGKILL"), graceMs));
      };
      timers.push(setTimeout(end, options.limitMs));
    }
    child.on("error", reject);
    child.on("close", (code) => {
      for (const timer of timers) clearTimeout(timer);
      resolve({ code: code ?? 128, output: Buffer.concat(chunks).toString("utf8"), timedOut });
    });
  });
}
