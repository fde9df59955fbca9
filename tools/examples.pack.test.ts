import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, inject, it } from "vitest";
import { succeed } from "./build/packed-project.test-support.ts";

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
// A project of somebody else knows nothing of this repository's conditions.
const env = { ...process.env, NODE_OPTIONS: "" };

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  overrides?: Record<string, string>;
}

const packed = inject("packed");
const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** Copies an example out of the repository and installs it as its package.json says, with tarballs in place of what is not published yet. */
async function installExample(name: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), `nodelet-${name}-`));
  folders.push(folder);
  cpSync(join(root, "examples", name), folder, {
    recursive: true,
    filter: (path) => !path.includes("node_modules"),
  });
  const path = join(folder, "package.json");
  const manifest = JSON.parse(readFileSync(path, "utf8")) as Manifest;
  const overrides: Record<string, string> = {};
  for (const { name: packageName, version, tarball } of packed) {
    const wanted = manifest.dependencies?.[packageName];
    if (wanted === undefined) overrides[packageName] = `file:${tarball}`;
    else {
      if (wanted !== version) throw new Error(`examples/${name} wants ${packageName} ${wanted}, and it is ${version}`);
      manifest.dependencies = { ...manifest.dependencies, [packageName]: `file:${tarball}` };
      overrides[packageName] = `$${packageName}`;
    }
  }
  writeFileSync(path, JSON.stringify({ ...manifest, overrides }));
  await succeed(["npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    env,
  });
  return folder;
}

const npm = (folder: string, ...args: readonly string[]) => succeed(["npm", "--silent", ...args], { cwd: folder, env });

describe("the examples, installed outside of the repository", () => {
  it("are all tested here", () => {
    const examples = readdirSync(join(root, "examples"), { withFileTypes: true })
      .filter(
        (entry) => entry.isDirectory() && readdirSync(join(root, "examples", entry.name)).includes("package.json"),
      )
      .map(({ name }) => name);
    expect(examples.sort()).toEqual(["embed", "own-runtime"]);
  });

  it("embed: an agent with a source of its own shows each pod as it becomes Running, and ends", async () => {
    const folder = await installExample("embed");
    await npm(folder, "run", "types");
    const output = await npm(folder, "start", "--", "web", "worker");
    const lines = output.trim().split("\n");
    expect(lines.slice(0, -1).sort()).toEqual([
      expect.stringMatching(/^web-embedded is Running at [0-9.]+$/),
      expect.stringMatching(/^worker-embedded is Running at [0-9.]+$/),
    ]);
    expect(lines.at(-1)).toBe("stopped; the pods would run on in a real runtime");
  });

  it("own-runtime: a runtime from scratch passes the contract suites, and runs a pod", async () => {
    const folder = await installExample("own-runtime");
    await npm(folder, "run", "types");
    await npm(folder, "test", "--", "--reporter=json", "--outputFile=report.json");
    const report = JSON.parse(readFileSync(join(folder, "report.json"), "utf8")) as Record<string, unknown>;
    expect(report).toMatchObject({ success: true, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0 });
    expect(report["numPassedTests"]).toBeGreaterThan(40);
    const output = await npm(folder, "start");
    expect(output).toMatch(
      /^hello is Running: \S+ stdout F I run at 127\.88\.0\.1\nhello is gone, and 0 sandboxes are left\n$/,
    );
  });
});
