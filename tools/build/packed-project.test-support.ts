import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../run-command.ts";

/** A published package and the tarball that npm made of it. */
export interface PackedPackage {
  name: string;
  version: string;
  tarball: string;
  /** Paths inside the package, sorted. */
  files: readonly string[];
}

/** Runs a command and returns what it wrote; throws with its whole output when it fails. */
export async function succeed(
  command: [string, ...string[]],
  options: { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<string> {
  const { code, output } = await runCommand(command, options);
  if (code !== 0) {
    throw new Error(`${command.join(" ")} ended with exit code ${code}:\n${output}`);
  }
  return output;
}

/** Packs every published package, as it is built at the moment, into a new temporary folder with `npm pack`. */
export async function packPackages(root: string): Promise<readonly PackedPackage[]> {
  const folder = mkdtempSync(join(tmpdir(), "nodelet-packed-"));
  const packed: PackedPackage[] = [];
  for (const name of readdirSync(`${root}/packages`).sort()) {
    const dir = `${root}/packages/${name}`;
    const manifest = JSON.parse(readFileSync(`${dir}/package.json`, "utf8")) as { private?: boolean };
    if (manifest.private === true) continue;
    const output = await succeed(
      ["npm", "pack", "--json", "--ignore-scripts", "--loglevel=error", `--pack-destination=${folder}`],
      { cwd: dir },
    );
    const [entry] = JSON.parse(output) as {
      name: string;
      version: string;
      filename: string;
      files: { path: string }[];
    }[];
    if (entry === undefined) throw new Error(`npm packed nothing of ${dir}`);
    const files = entry.files.map((file) => file.path).sort();
    packed.push({ name: entry.name, version: entry.version, tarball: join(folder, entry.filename), files });
  }
  return packed;
}

/**
 * Makes an empty project and installs the tarballs in it with npm, beside `others` (name to version). The tarballs'
 * own dependencies come from npm's cache where it has them.
 * @returns the project's folder, which belongs to the caller.
 */
export async function installPacked(packed: readonly PackedPackage[], others: Record<string, string>): Promise<string> {
  const project = mkdtempSync(join(tmpdir(), "nodelet-project-"));
  mkdirSync(project, { recursive: true });
  const dependencies = {
    ...others,
    ...Object.fromEntries(packed.map(({ name, tarball }) => [name, `file:${tarball}`])),
  };
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({ name: "project", private: true, type: "module", dependencies }),
  );
  await succeed(["npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: project,
  });
  return project;
}
