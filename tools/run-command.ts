import { spawn } from "node:child_process";

/** What a command did: its exit code (128 and more after a signal) and all that it wrote, in order. */
export interface CommandResult {
  code: number;
  output: string;
}

/** Runs a command to its end and keeps what it writes; with `show`, passes it on as it comes, too. */
export function runCommand(
  command: readonly [string, ...string[]],
  options: { cwd: string; env?: NodeJS.ProcessEnv; show?: boolean },
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
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 128, output: Buffer.concat(chunks).toString("utf8") }));
  });
}
