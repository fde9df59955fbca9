import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readSourceFile, type SourceFile } from "./source-file.ts";

/** The fields of a package.json that the rules read. */
export interface Manifest {
  name: string;
  version?: string;
  private?: boolean;
  exports?: Record<string, unknown>;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

/** One package of the workspace, with its parsed sources. */
export interface WorkspacePackage {
  name: string;
  /** Folder from the root, `.` for the root itself. */
  dir: string;
  manifest: Manifest;
  files: readonly SourceFile[];
}

/** The repository as the rules see it. The first package is the root, which owns tools/, scripts/ and proto/. */
export interface Workspace {
  root: string;
  packages: readonly WorkspacePackage[];
}

const rootFolders = ["tools", "scripts", "proto"];
const skippedFolders = new Set(["node_modules", "dist", ".cache", ".nodelet", "testdata", "fixtures", "coverage"]);
const sourceEnding = /\.(ts|js|mjs)$/;

/** Reads every package of the workspace below `root`. */
export function loadWorkspace(root: string): Workspace {
  const dirs = ["packages", "examples"].flatMap((parent) =>
    existsSync(`${root}/${parent}`) ? readdirSync(`${root}/${parent}`).map((name) => `${parent}/${name}`) : [],
  );
  const packages: WorkspacePackage[] = [
    {
      name: "(root)",
      dir: ".",
      manifest: readManifest(`${root}/package.json`),
      files: [
        ...rootFolders.flatMap((folder) => sourcePaths(root, folder)),
        ...readdirSync(root).filter((name) => name.endsWith(".config.ts")),
      ].map((path) => readSourceFile(root, path)),
    },
  ];
  for (const dir of [...dirs, "e2e", "bench"].sort()) {
    if (existsSync(`${root}/${dir}/package.json`)) {
      const manifest = readManifest(`${root}/${dir}/package.json`);
      const files = sourcePaths(root, dir).map((path) => readSourceFile(root, path));
      packages.push({ name: manifest.name, dir, manifest, files });
    }
  }
  return { root, packages };
}

function readManifest(path: string): Manifest {
  return JSON.parse(readFileSync(path, "utf8")) as Manifest;
}

function sourcePaths(root: string, folder: string): string[] {
  if (!existsSync(`${root}/${folder}`)) {
    return [];
  }
  return readdirSync(`${root}/${folder}`, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        return skippedFolders.has(entry.name) ? [] : sourcePaths(root, path);
      }
      return entry.isFile() && sourceEnding.test(entry.name) && !entry.name.endsWith(".d.ts") ? [path] : [];
    });
}

/** Every file of the workspace with its package. */
export function* eachFile(workspace: Workspace): Generator<{ owner: WorkspacePackage; file: SourceFile }> {
  for (const owner of workspace.packages) {
    for (const file of owner.files) {
      yield { owner, file };
    }
  }
}

/** Splits a bare specifier: `@a/b/c` is package `@a/b`, sub-path `./c`. Undefined for relative and `node:` ones. */
export function splitSpecifier(specifier: string): { name: string; subpath: string } | undefined {
  if (
    specifier.startsWith(".") ||
    specifier.startsWith("/") ||
    specifier.startsWith("node:") ||
    specifier.startsWith("#")
  ) {
    return undefined;
  }
  const parts = specifier.split("/");
  const length = specifier.startsWith("@") ? 2 : 1;
  const rest = parts.slice(length).join("/");
  return { name: parts.slice(0, length).join("/"), subpath: rest === "" ? "." : `./${rest}` };
}
