import { expect, it } from "vitest";
import { runCommand } from "./run-command.ts";

const script = (code: string): [string, ...string[]] => [process.execPath, "-e", code];
const cwd = process.cwd();

it("keeps what is written to both streams, and the exit code", async () => {
  const code = 'process.stdout.write("out "); setTimeout(() => { process.stderr.write("err"); process.exit(7); }, 50);';
  expect(await runCommand(script(code), { cwd })).toEqual({ code: 7, output: "out err", timedOut: false });
});

it("ends a command whose time is up", async () => {
  const result = await runCommand(script("setInterval(() => undefined, 1000);"), { cwd, limitMs: 200 });
  expect(result).toMatchObject({ code: 128, timedOut: true });
});

it("rejects when the command cannot be started", async () => {
  await expect(runCommand(["/nowhere/program"], { cwd })).rejects.toThrow("ENOENT");
});
