import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { parseSync } from "rolldown/utils";

/** One `import`, `export … from`, `import()` or `import("…")` type of a file. */
export interface ModuleImport {
  specifier: string;
  line: number;
  /** Erased at run time: `import type`, or every name marked `type`. */
  typeOnly: boolean;
  /** The imported names as the other module exports them (`default` included); `*` stands for all of them. */
  names: readonly string[];
  /** Set on `export … from`: the names under which each is passed on (`*` for `export *`). */
  reexportedAs?: readonly string[];
}

/** One name that a file itself declares and exports. */
export interface ModuleExport {
  name: string;
  /** The name inside the file; differs after `export { a as b }`. */
  localName: string;
  line: number;
  typeOnly: boolean;
  /** A doc comment stands right before the declaration, or the name is exported apart from its declaration. */
  documented: boolean;
}

/** What the rules need to know of one TypeScript or JavaScript file. */
export interface SourceFile {
  path: string;
  text: string;
  /** `text` with comments blanked, line breaks kept. */
  code: string;
  lineCount: number;
  imports: readonly ModuleImport[];
  exports: readonly ModuleExport[];
  isTest: boolean;
  /** Written by a tool into a `gen/` folder: what it imports counts, how it looks does not. */
  isGenerated: boolean;
}

/** Files that are not part of what a package ships: tests and what only tests use. */
function isTestPath(path: string): boolean {
  return /\.(test|test-support)\.[cm]?[jt]s$/.test(path);
}

/**
 * Reads and parses a file.
 * @throws Error naming the file when it is not valid TypeScript.
 */
export function readSourceFile(root: string, path: string): SourceFile {
  return parseSourceFile(path, readFileSync(`${root}/${path}`, "utf8"));
}

function parseSourceFile(path: string, text: string): SourceFile {
  const lang = extname(path) === ".js" || extname(path) === ".mjs" ? "js" : "ts";
  const parsed = parseSync(path, text, { lang, sourceType: "module" });
  const [problem] = parsed.errors;
  if (problem !== undefined) {
    throw new Error(`${path}: cannot be parsed: ${problem.message}`);
  }
  const lineAt = lineIndex(text);
  const code = blankComments(text, parsed.comments);
  const passedOn = parsed.module.staticExports.flatMap((statement) => reexportsOf(statement, { text, lineAt }));
  return {
    path,
    text,
    code,
    lineCount: text.split("\n").length - 1,
    imports: [
      ...parsed.module.staticImports.map((statement) => importOf(statement, { text, lineAt })),
      ...passedOn,
      ...dynamicImports(code, lineAt),
    ],
    exports: parsed.module.staticExports.flatMap((statement) => exportsOf(statement, { text, lineAt })),
    isTest: isTestPath(path),
    isGenerated: path.includes("/gen/"),
  };
}

type Parsed = ReturnType<typeof parseSync>["module"];
type LineAt = (offset: number) => number;

function importOf(
  statement: Parsed["staticImports"][number],
  { text, lineAt }: { text: string; lineAt: LineAt },
): ModuleImport {
  const names = statement.entries.map(({ importName }) => {
    if (importName.kind === "Default") return "default";
    return importName.kind === "Name" ? (importName.name ?? "*") : "*";
  });
  const allTypes = statement.entries.length > 0 && statement.entries.every((name) => name.isType);
  return {
    specifier: statement.moduleRequest.value,
    line: lineAt(statement.start),
    typeOnly: allTypes || /^import\s+type\b/.test(text.slice(statement.start, statement.end)),
    names,
  };
}

function reexportsOf(
  statement: Parsed["staticExports"][number],
  { text, lineAt }: { text: string; lineAt: LineAt },
): ModuleImport[] {
  const ofTypes = /^export\s+type\b/.test(text.slice(statement.start, statement.end));
  return statement.entries.flatMap((entry) =>
    entry.moduleRequest === null
      ? []
      : [
          {
            specifier: entry.moduleRequest.value,
            line: lineAt(entry.start),
            typeOnly: entry.isType || ofTypes,
            names: [entry.importName.kind === "Name" ? (entry.importName.name ?? "*") : "*"],
            reexportedAs: [entry.exportName.kind === "None" ? "*" : (entry.exportName.name ?? "default")],
          },
        ],
  );
}

function exportsOf(
  statement: Parsed["staticExports"][number],
  { text, lineAt }: { text: string; lineAt: LineAt },
): ModuleExport[] {
  const apart = /^export\s*(?:type\s*)?\{/.test(text.slice(statement.start, statement.end));
  const before = text.slice(0, statement.start).trimEnd();
  const documented =
    apart || (before.endsWith("*/") && before.lastIndexOf("/**") > before.lastIndexOf("*/", before.length - 3));
  return statement.entries
    .filter((entry) => entry.moduleRequest === null)
    .map((entry) => {
      const name = entry.exportName.kind === "Default" ? "default" : (entry.exportName.name ?? "default");
      const localName = entry.localName.name ?? name;
      return { name, localName, line: lineAt(entry.start), typeOnly: entry.isType, documented };
    });
}

/** `import("x")`, at run time or as a type. The code has no comments; a specifier that is computed is not seen. */
function dynamicImports(code: string, lineAt: LineAt): ModuleImport[] {
  return [...code.matchAll(/\bimport\s*\(\s*(["'])([^"']+)\1\s*\)(?:\.(\w+))?/g)].map((match) => {
    const before = code.slice(0, match.index);
    const asType = /[:<|&=,(]\s*(?:typeof\s+)?$/.test(before) && match[3] !== undefined && match[3] !== "then";
    return { specifier: match[2] as string, line: lineAt(match.index), typeOnly: asType, names: ["*"] };
  });
}

function lineIndex(text: string): LineAt {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    starts.push(at + 1);
  }
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
}

function blankComments(text: string, comments: readonly { start: number; end: number }[]): string {
  let code = "";
  let from = 0;
  for (const comment of comments) {
    code += text.slice(from, comment.start) + text.slice(comment.start, comment.end).replace(/[^\n]/g, " ");
    from = comment.end;
  }
  return code + text.slice(from);
}
