import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";

const bin = fileURLToPath(new URL("../bin", import.meta.url));

/** A package with the real launchers and the given programs, each of which prints what it is and sees. */
function makePackage({ bundle, sources }: { bundle: boolean; sources: boolean }): string {
  const folder = mkdtempSync(join(tmpdir(), "nodelet-launch-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(bin, join(folder, "bin"), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const program = (name: string) =>
    `const { pid, argv, execArgv, env } = process;\nconsole.log(JSON.stringify({ name: "${name}", pid, argv: argv.slice(1), execArgv, arenas: env.MALLOC_ARENA_MAX }));\n`;
  if (bundle) {
    mkdirSync(join(folder, "dist"));
    writeFileSync(join(folder, "dist/nodelet.js"), program("bundle"));
  }
  if (sources) {
    mkdirSync(join(folder, "src"));
    writeFileSync(join(folder, "src/main.ts"), `const typed: number = 1;\nvoid typed;\n${program("sources")}`);
  }
  return folder;
}

interface Run {
  code: number;
  stderr: string;
  pid: number | undefined;
  seen: { name: string; pid: number; argv: string[]; execArgv: string[]; arenas?: string } | undefined;
}

function run(args: readonly string[]): Promise<Run> {
  return new Promise((resolve) => {
    const env = { ...process.env, NODE_OPTIONS: "", MALLOC_ARENA_MAX: undefined };
    const child = execFile(process.execPath, args, { env }, (error, stdout, stderr) => {
      const seen = stdout === "" ? undefined : (JSON.parse(stdout) as Run["seen"]);
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stderr, pid: child.pid, seen });
    });
  });
}

describe("the launchers", () => {
  it("run the bundle when it is built, as a small process with the same id and arguments", async () => {
    const folder = makePackage({ bundle: true, sources: true });
    const result = await run(["--no-opt", join(folder, "bin/nodelet.js"), "--v", "2"]);
    expect(result).toMatchObject({ code: 0, stderr: "", seen: { name: "bundle", arenas: "1" } });
    expect(result.seen?.pid).toBe(result.pid);
    expect(result.seen?.argv).toEqual([join(folder, "bin/nodelet.js"), "--v", "2"]);
    expect(result.seen?.execArgv).toEqual([
      "--no-maglev",
      "--max-semi-space-size=1",
      "--memory-saver-mode",
      "--no-flush-bytecode",
      "--no-opt",
    ]);
  });

  it.each([["version"], ["--version"], ["--version=raw"], ["--help"], ["pods", "--watch"]])(
    "run the bundle at once for %s",
    async (...args) => {
      const folder = makePackage({ bundle: true, sources: false });
      const result = await run([join(folder, "bin/nodelet.js"), ...args]);
      expect(result).toMatchObject({ code: 0, stderr: "", seen: { name: "bundle", execArgv: [] } });
    },
  );

  it("run the sources when there is no bundle, in the same process, with the same name and arguments", async () => {
    const folder = makePackage({ bundle: false, sources: true });
    const result = await run(["--max-semi-space-size=4", join(folder, "bin/kubelet.js"), "--v", "2", "a b"]);
    expect(result).toMatchObject({ code: 0, stderr: "", seen: { name: "sources" } });
    expect(result.seen?.pid).toBe(result.pid);
    expect(result.seen?.argv).toEqual([join(folder, "bin/kubelet.js"), "--v", "2", "a b"]);
    expect(result.seen?.execArgv).toEqual(["--conditions=nodelet-source", "--max-semi-space-size=4"]);
  });

  it("run the sources when the condition asks for them, although the bundle is there", async () => {
    const folder = makePackage({ bundle: true, sources: true });
    const result = await run(["--conditions=nodelet-source", join(folder, "bin/nodelet.js")]);
    expect(result.seen?.name).toBe("sources");
  });

  it("work through a link, as npm installs them", async () => {
    const folder = makePackage({ bundle: true, sources: false });
    symlinkSync(join(folder, "bin/kubelet.js"), join(folder, "kubelet"));
    const result = await run([join(folder, "kubelet")]);
    expect(result.seen).toMatchObject({ name: "bundle", argv: [join(folder, "kubelet")] });
  });

  it("say what is missing when the package is incomplete", async () => {
    const folder = makePackage({ bundle: false, sources: false });
    const result = await run([join(folder, "bin/nodelet.js")]);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain(`neither ${join(folder, "dist/nodelet.js")} nor its sources`);
  });

  it.each(["18.20.4", "20.20.2", "22.17.1"])("refuse Node.js %s and say what is needed", async (version) => {
    const folder = makePackage({ bundle: true, sources: true });
    const pretend = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });`;
    writeFileSync(join(folder, "pretend.cjs"), pretend);
    const result = await run(["--require", join(folder, "pretend.cjs"), join(folder, "bin/nodelet.js")]);
    expect(result).toMatchObject({ code: 1, seen: undefined });
    expect(result.stderr).toContain("needs Node.js 22.18 or newer");
    expect(result.stderr).toContain(version);
  });
});
