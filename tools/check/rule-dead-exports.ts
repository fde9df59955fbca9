import { posix } from "node:path";
import { error, type Finding } from "./finding.ts";
import type { ModuleExport, SourceFile } from "./source-file.ts";
import { splitSpecifier, type Workspace, type WorkspacePackage } from "./workspace.ts";

/**
 * Exports that nothing outside their file needs. What a published package's entry files pass on is its public API and
 * always alive; in private packages only what another file imports is, tests included where the package exports nothing. An export that only tests import is alive when its own file
 * uses it too; a type is alive when its own file uses it, since it is then part of another export's shape.
 */
export function checkDeadExports(workspace: Workspace): Finding[] {
  const uses = collectUses(workspace);
  return workspace.packages.flatMap((owner) => {
    const entries = new Set(owner.manifest.private === true ? [] : entryPaths(owner));
    return owner.files
      .filter((file) => !file.isTest && !file.isGenerated && !entries.has(file.path) && !isConfiguration(file))
      .flatMap((file) => file.exports.flatMap((item) => judge(file, item, uses.get(file.path))));
  });
}

/** Which exports of one file are imported, by what; `*` stands for all of them. */
interface Uses {
  bySources: Set<string>;
  byTests: Set<string>;
}

function judge(file: SourceFile, item: ModuleExport, uses: Uses | undefined): Finding[] {
  if (uses?.bySources.has(item.name) || uses?.bySources.has("*")) {
    return [];
  }
  const usedInside = countWord(file.code, item.localName) > 1;
  const usedByTests = uses !== undefined && (uses.byTests.has(item.name) || uses.byTests.has("*"));
  if (usedByTests) {
    return usedInside ? [] : [error(file.path, `only tests use ${item.name}: take it out`, item.line)];
  }
  if (!usedInside) {
    return [error(file.path, `nothing uses ${item.name}: take it out`, item.line)];
  }
  return item.typeOnly ? [] : [error(file.path, `only this file uses ${item.name}: drop the export`, item.line)];
}

/** A private package that exports nothing is there for its tests: what they share is alive. */
function isForTests(owner: WorkspacePackage): boolean {
  return owner.manifest.private === true && owner.manifest.exports === undefined;
}

/** Files that a tool loads by name. */
function isConfiguration(file: SourceFile): boolean {
  return file.path.endsWith(".config.ts") || file.path.endsWith(".js");
}

function entryPaths(owner: WorkspacePackage): string[] {
  return Object.values(owner.manifest.exports ?? {}).flatMap((target) => {
    const source =
      typeof target === "object" && target !== null ? (target as Record<string, unknown>)["nodelet-source"] : target;
    return typeof source === "string" ? [posix.join(owner.dir, source)] : [];
  });
}

function collectUses(workspace: Workspace): Map<string, Uses> {
  const packages = new Map(workspace.packages.map((entry) => [entry.name, entry]));
  const files = new Map(workspace.packages.flatMap((owner) => owner.files.map((file) => [file.path, file] as const)));
  const uses = new Map<string, Uses>();
  const resolve = (file: SourceFile, specifier: string): string | undefined => {
    if (specifier.startsWith(".")) {
      return posix.join(posix.dirname(file.path), specifier);
    }
    const bare = splitSpecifier(specifier);
    const target = bare && packages.get(bare.name);
    const entry = target?.manifest.exports?.[bare?.subpath ?? "."] as Record<string, string> | string | undefined;
    const source = typeof entry === "string" ? entry : entry?.["nodelet-source"];
    return target && source ? posix.join(target.dir, source) : undefined;
  };
  const mark = (path: string | undefined, name: string, byTest: boolean): void => {
    const file = path === undefined ? undefined : files.get(path);
    if (path === undefined || file === undefined) {
      return;
    }
    const known = uses.get(path) ?? { bySources: new Set(), byTests: new Set() };
    uses.set(path, known);
    const set = byTest ? known.byTests : known.bySources;
    if (set.has(name)) {
      return;
    }
    set.add(name);
    // A name that is only passed on leads to the file that declares it.
    for (const entry of file.imports) {
      if (entry.reexportedAs === undefined) continue;
      const [passedOn] = entry.reexportedAs;
      if (passedOn === "*") mark(resolve(file, entry.specifier), name, byTest);
      else if (passedOn === name || name === "*")
        mark(resolve(file, entry.specifier), entry.names[0] as string, byTest);
    }
  };
  for (const owner of workspace.packages) {
    const published = owner.manifest.private !== true;
    for (const path of entryPaths(owner)) {
      if (published) mark(path, "*", false);
    }
    for (const file of owner.files) {
      for (const entry of file.imports) {
        if (entry.reexportedAs !== undefined) continue;
        for (const name of entry.names) mark(resolve(file, entry.specifier), name, file.isTest && !isForTests(owner));
      }
    }
  }
  return uses;
}

function countWord(text: string, word: string): number {
  return text.match(new RegExp(`(?<![\\w$])${word.replace(/\$/g, "\\$")}(?![\\w$])`, "g"))?.length ?? 0;
}
