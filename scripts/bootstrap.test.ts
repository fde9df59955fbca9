import { spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";

const bootstrap = fileURLToPath(new URL("bootstrap.js", import.meta.url));

/** A clone with the real bootstrap script, a lock file, and stand-ins for the programs it runs. */
function makeClone({ installed, pnpm = 'echo "installing $*" >&2' }: { installed: boolean; pnpm?: string }): string {
  const root = mkdtempSync(join(tmpdir(), "nodelet-bootstrap-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const folder of ["scripts", "proto/tools", "node_modules/.bin"])
    mkdirSync(join(root, folder), { recursive: true });
  copyFileSync(bootstrap, join(root, "scripts/bootstrap.js"));
  const files: Record<string, string> = {
    "package.json": '{ "type": "module", "packageManager": "pnpm@10.0.0" }',
    "pnpm-lock.yaml": "lockfileVersion: '9.0'\n",
    "pnpm-workspace.yaml": "packages: []\n",
    "proto/tools/generate.ts": 'console.error("generating");\n',
    "scripts/program.ts":
      "const text: string = JSON.stringify({ args: process.argv.slice(2), execArgv: process.execArgv });\nconsole.log(text);\nprocess.exitCode = 3;\n",
    "scripts/waits.ts":
      'process.on("SIGTERM", () => { console.log("ended"); process.exit(0); });\nsetInterval(() => undefined, 1000);\nconsole.log("waiting");\n',
  };
  for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
  const putNode = `mkdir -p node_modules/node/bin && ln -sf ${process.execPath} node_modules/node/bin/node`;
  writeFileSync(join(root, "node_modules/.bin/pnpm"), `#!/bin/sh\n${pnpm}\n${putNode}\n`, { mode: 0o755 });
  if (installed) {
    mkdirSync(join(root, "node_modules/node/bin"), { recursive: true });
    symlinkSync(process.execPath, join(root, "node_modules/node/bin/node"));
  }
  return root;
}

interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the bootstrap script. Without execve it has to do what it does on Node.js 20. */
function run(
  root: string,
  args: readonly string[],
  options: { execve?: boolean; killWhen?: string } = {},
): Promise<Run> {
  writeFileSync(join(root, "old.cjs"), "delete process.execve;\n");
  const before = options.execve === false ? ["--require", join(root, "old.cjs")] : [];
  const child = spawn(process.execPath, [...before, join(root, "scripts/bootstrap.js"), ...args], {
    env: { ...process.env, NODE_OPTIONS: "" },
  });
  const result: Run = { code: null, stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    result.stdout += chunk.toString();
    if (options.killWhen !== undefined && result.stdout.includes(options.killWhen)) child.kill("SIGTERM");
  });
  child.stderr.on("data", (chunk: Buffer) => {
    result.stderr += chunk.toString();
  });
  return new Promise((resolve) => child.on("close", (code) => resolve({ ...result, code })));
}

describe("the bootstrap script", () => {
  it("installs, generates, and runs the program with its arguments, its output and its exit code", async () => {
    const result = await run(makeClone({ installed: false }), ["scripts/program.ts", "--a", "b c"]);
    expect(result.code).toBe(3);
    expect(JSON.parse(result.stdout)).toEqual({ args: ["--a", "b c"], execArgv: ["--conditions=nodelet-source"] });
    expect(result.stderr).toMatch(
      /this clone has none yet[\s\S]*installing install --frozen-lockfile[\s\S]*Installed in[\s\S]*generating/,
    );
  });

  it("installs once, and again after the lock file changed", async () => {
    const root = makeClone({ installed: true });
    const says = async () => (await run(root, ["scripts/program.ts"])).stderr;
    expect(await says()).toContain("installing");
    expect(await says()).toBe("generating\n");
    writeFileSync(join(root, "pnpm-lock.yaml"), "lockfileVersion: '9.1'\n");
    expect(await says()).toContain("pnpm-lock.yaml has changed");
  });

  it("says what to do when the installation fails, and tries again the next time", async () => {
    const root = makeClone({ installed: true, pnpm: "echo ERR_PNPM_OUTDATED_LOCKFILE; exit 1" });
    const result = await run(root, ["scripts/program.ts"]);
    expect(result).toMatchObject({ code: 1, stdout: "" });
    expect(result.stderr).toContain("ERR_PNPM_OUTDATED_LOCKFILE");
    expect(result.stderr).toContain("npx --yes pnpm@10 install");
    expect(existsSync(join(root, "node_modules/.nodelet-installed"))).toBe(false);
  });

  it("is heard under npm --silent", async () => {
    const root = makeClone({ installed: false, pnpm: 'echo "level=$npm_config_loglevel" > level.txt' });
    process.env["npm_config_loglevel"] = "silent";
    onTestFinished(() => {
      delete process.env["npm_config_loglevel"];
    });
    await run(root, ["scripts/program.ts"]);
    expect(readFileSync(join(root, "level.txt"), "utf8")).toBe("level=\n");
  });

  it("stops when generating fails", async () => {
    const root = makeClone({ installed: true });
    writeFileSync(join(root, "proto/tools/generate.ts"), 'throw new Error("bad facts");\n');
    const result = await run(root, ["scripts/program.ts"]);
    expect(result).toMatchObject({ code: 1, stdout: "" });
    expect(result.stderr).toContain("bad facts");
  });

  it.each([true, false])("passes on the exit code and SIGTERM (execve: %s)", async (execve) => {
    const root = makeClone({ installed: true });
    expect((await run(root, ["scripts/program.ts"], { execve })).code).toBe(3);
    const waited = await run(root, ["scripts/waits.ts"], { execve, killWhen: "waiting" });
    expect(waited).toMatchObject({ code: 0, stdout: "waiting\nended\n" });
  });

  it("says which program is missing", async () => {
    const result = await run(makeClone({ installed: true }), ["scripts/nothing.ts"]);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("scripts/nothing.ts is not there");
  });
});
