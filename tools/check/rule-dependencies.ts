import { existsSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { error, type Finding } from "./finding.ts";
import { splitSpecifier, type Workspace, type WorkspacePackage } from "./workspace.ts";

const builtins = new Set(builtinModules);
const exactVersion = /^\d+\.\d+\.\d+(-[\w.]+)?$/;
/** Dependencies that are run or named in configuration, never imported. */
const usedAsPrograms = new Set([
  "@biomejs/biome",
  "@bufbuild/buf",
  "@bufbuild/protoc-gen-es",
  "@types/node",
  "node",
  "oxlint",
  "oxlint-tsgolint",
  "pnpm",
  "typescript",
  "vite",
]);
const tablePath = "docs/dependencies.md";

/** Declared is imported and imported is declared; versions are exact; every third-party package has its row in the table. */
export function checkDependencies(workspace: Workspace): Finding[] {
  const [root] = workspace.packages as [WorkspacePackage];
  const versions = new Map(workspace.packages.map((entry) => [entry.name, entry.manifest.version]));
  const findings = workspace.packages.flatMap((owner) => [
    ...undeclared(owner, root),
    ...unused(owner),
    ...wrongVersions(owner, versions),
  ]);
  return [...findings, ...missingRows(workspace, versions)];
}

function manifestPath(owner: WorkspacePackage): string {
  return owner.dir === "." ? "package.json" : `${owner.dir}/package.json`;
}

function undeclared(owner: WorkspacePackage, root: WorkspacePackage): Finding[] {
  const { manifest } = owner;
  const shipped = { ...manifest.dependencies, ...manifest.peerDependencies, ...manifest.optionalDependencies };
  const inTests = { ...shipped, ...manifest.devDependencies, ...root.manifest.devDependencies };
  // The bundle carries what cli imports, so there a development dependency is enough; private packages are never installed.
  const inSources =
    owner.name === "@nodelet/cli" ? { ...shipped, ...manifest.devDependencies } : manifest.private ? inTests : shipped;
  return owner.files.flatMap((file) =>
    file.imports.flatMap((entry) => {
      const bare = splitSpecifier(entry.specifier);
      if (bare === undefined || builtins.has(bare.name) || bare.name === owner.name) {
        return [];
      }
      const declared = file.isTest ? inTests : inSources;
      const byTypes = entry.typeOnly && `@types/${bare.name}` in inTests;
      return bare.name in declared || byTypes
        ? []
        : [error(file.path, `${bare.name} is imported and ${manifestPath(owner)} does not declare it`, entry.line)];
    }),
  );
}

function unused(owner: WorkspacePackage): Finding[] {
  const { manifest } = owner;
  const imported = new Set(
    owner.files.flatMap((file) => file.imports.map((entry) => splitSpecifier(entry.specifier)?.name)),
  );
  const declared = Object.keys({
    ...manifest.dependencies,
    ...manifest.devDependencies,
    ...manifest.optionalDependencies,
  });
  return declared
    .filter((name) => !imported.has(name) && !usedAsPrograms.has(name) && !imported.has(name.replace(/^@types\//, "")))
    .filter((name) => !(owner.dir === "." && workspaceWideTool(name)))
    .map((name) => error(manifestPath(owner), `${name} is declared and nothing imports it: take it out`));
}

/** The test libraries are declared once, at the root, for the tests of every package. */
function workspaceWideTool(name: string): boolean {
  return name === "vitest" || name === "fast-check";
}

function wrongVersions(owner: WorkspacePackage, versions: ReadonlyMap<string, string | undefined>): Finding[] {
  const { manifest } = owner;
  return Object.entries({
    ...manifest.dependencies,
    ...manifest.devDependencies,
    ...manifest.optionalDependencies,
  }).flatMap(([name, range]) => {
    if (versions.has(name)) {
      const version = versions.get(name);
      return range === version
        ? []
        : [error(manifestPath(owner), `${name} must be "${version}", the version in this workspace, not "${range}"`)];
    }
    return exactVersion.test(range)
      ? []
      : [error(manifestPath(owner), `${name} must have one exact version, not "${range}"`)];
  });
}

function missingRows(workspace: Workspace, versions: ReadonlyMap<string, string | undefined>): Finding[] {
  const path = `${workspace.root}/${tablePath}`;
  const table = existsSync(path) ? readFileSync(path, "utf8") : "";
  const rows = new Map(
    [...table.matchAll(/^\| *`?([^|`]+?)`? *\| *([^|]+?) *\|/gm)].map((row) => [row[1] as string, row[2] as string]),
  );
  const wanted = new Map<string, string>();
  for (const { manifest } of workspace.packages) {
    for (const [name, range] of Object.entries({
      ...manifest.dependencies,
      ...manifest.devDependencies,
      ...manifest.optionalDependencies,
    })) {
      if (!versions.has(name)) wanted.set(name, range);
    }
  }
  return [
    ...[...wanted].flatMap(([name, range]) => {
      const row = rows.get(name);
      if (row === undefined)
        return [error(tablePath, `${name} has no row: say what uses it, why, its licence, size and upkeep`)];
      return row === range ? [] : [error(tablePath, `${name} is ${range} in the workspace and ${row} in the table`)];
    }),
    ...[...rows.keys()]
      .filter(
        (name) => /^(@[\w-]+\/)?[a-z][\w.-]*$/.test(name) && !["package", "---"].includes(name) && !wanted.has(name),
      )
      .map((name) => error(tablePath, `${name} has a row and no package declares it`)),
  ];
}
