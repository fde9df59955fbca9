import { builtinModules } from "node:module";
import { posix } from "node:path";
import { error, type Finding } from "./finding.ts";
import type { ModuleImport, SourceFile } from "./source-file.ts";
import { eachFile, splitSpecifier, type Workspace, type WorkspacePackage } from "./workspace.ts";

const builtins = new Set(builtinModules);
const frameworks = new Set(["inversify", "reflect-metadata"]);
/** What core may import from outside the repository. A new one is a decision of the house, not of a file. */
const coreMayImport = new Set(["yaml", "js-yaml"]);

/** Which other @nodelet packages a package may import, by its role. */
interface Role {
  title: string;
  mayImport(other: string): boolean;
  testsMayImport(other: string): boolean;
  advice: string;
}

const isLib = (name: string) => name.startsWith("@nodelet/lib-");
const adapterInTests = (name: string) => name === "@nodelet/core" || name === "@nodelet/testkit" || isLib(name);

const roles: Record<"core" | "testkit" | "lib" | "adapter" | "free", Role> = {
  core: {
    title: "core",
    mayImport: () => false,
    testsMayImport: (other) => other === "@nodelet/testkit",
    advice: "core imports no other package of this repository: define a port, and let an adapter implement it",
  },
  testkit: {
    title: "testkit",
    mayImport: (other) => other === "@nodelet/core",
    testsMayImport: (other) => other === "@nodelet/core",
    advice: "testkit imports @nodelet/core only",
  },
  lib: {
    title: "a lib package",
    mayImport: isLib,
    testsMayImport: isLib,
    advice: "lib-* packages know of one another only: pass what is needed as a parameter",
  },
  adapter: {
    title: "an adapter",
    mayImport: (other) => other === "@nodelet/core" || isLib(other),
    testsMayImport: adapterInTests,
    advice:
      "adapters import @nodelet/core and @nodelet/lib-* only: shared plumbing belongs in a lib-* package, wiring in cli",
  },
  free: { title: "this package", mayImport: () => true, testsMayImport: () => true, advice: "" },
};

function roleOf(owner: WorkspacePackage): Role {
  if (owner.name === "@nodelet/core") return roles.core;
  if (owner.name === "@nodelet/testkit") return roles.testkit;
  if (isLib(owner.name)) return roles.lib;
  if (owner.name === "@nodelet/cli" || owner.manifest.private === true) return roles.free;
  return roles.adapter;
}

/** Who may import whom: between packages, from Node.js, from frameworks, and into another package's insides. */
export function checkDirections(workspace: Workspace): Finding[] {
  const packages = new Map(workspace.packages.map((entry) => [entry.name, entry]));
  const findings: Finding[] = [];
  for (const { owner, file } of eachFile(workspace)) {
    for (const entry of file.imports) {
      const message = objection({ owner, file, entry, packages });
      if (message !== undefined) {
        findings.push(error(file.path, message, entry.line));
      }
    }
  }
  return findings;
}

interface Subject {
  owner: WorkspacePackage;
  file: SourceFile;
  entry: ModuleImport;
  packages: ReadonlyMap<string, WorkspacePackage>;
}

function objection({ owner, file, entry, packages }: Subject): string | undefined {
  const { specifier } = entry;
  const inCore = owner.name === "@nodelet/core" && !file.isTest;
  if (specifier.startsWith("node:") || builtins.has(specifier.split("/")[0] as string)) {
    return inCore ? `core imports nothing of Node.js, and this imports ${specifier}: define a port` : undefined;
  }
  if (specifier.startsWith(".") || specifier.startsWith("/")) {
    const target = posix.join(posix.dirname(file.path), specifier);
    const inside =
      owner.dir === "." ? !/^(packages|examples|e2e|bench)\//.test(target) : target.startsWith(`${owner.dir}/`);
    return inside ? undefined : `${specifier} leaves the package: import the other package by its name`;
  }
  const bare = splitSpecifier(specifier);
  if (bare === undefined) {
    return undefined;
  }
  if (frameworks.has(bare.name) && owner.name !== "@nodelet/cli") {
    return `only packages/cli may import ${bare.name}: bind with a factory there`;
  }
  if (bare.name.startsWith("@nodelet/")) {
    return objectionBetween({ owner, file, packages, bare });
  }
  if (inCore && !coreMayImport.has(bare.name)) {
    return `core may import ${[...coreMayImport].join(", ")} and nothing else from outside, not ${bare.name}`;
  }
  return undefined;
}

function objectionBetween(
  subject: Omit<Subject, "entry"> & { bare: { name: string; subpath: string } },
): string | undefined {
  const { owner, file, packages, bare } = subject;
  const role = roleOf(owner);
  if (bare.name === owner.name) {
    return `${bare.name} imports itself by name: use a relative path`;
  }
  const target = packages.get(bare.name);
  if (target === undefined) {
    return `${bare.name} is not a package of this workspace`;
  }
  const endToEnd = /\.(e2e|pack)\.test\.ts$/.test(file.path);
  const allowed = file.isTest
    ? role.testsMayImport(bare.name) || (endToEnd && target.manifest.private === true)
    : role.mayImport(bare.name);
  if (!allowed) {
    return `${role.title} may not import ${bare.name}: ${role.advice}`;
  }
  if (!file.isTest && target.manifest.private === true && owner.manifest.private !== true) {
    return `${owner.name} is published and ${bare.name} is not: its users could not install it`;
  }
  if (target.manifest.exports?.[bare.subpath] === undefined) {
    return `${bare.name}/${bare.subpath.slice(2)} is not among the exports of ${bare.name}: import what its index exports`;
  }
  return undefined;
}
