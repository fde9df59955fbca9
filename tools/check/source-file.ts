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

/** Parses the text of a file; `path` decides the language and whether it counts as a test. */
export function parseSourceFile(path: string, text: string): SourceFile {
  const lang = extname(path) === ".js" || extname(path) === ".mjs" ? "js" : "ts";
  const parsed = parseSync(path, text, { lang, sourceType: "module" });
  const [problem] = parsed.errors;
  if (problem !== undefined) {
    throw new Error(`${path}: cannot be parsed: ${problem.message}`);
  }
  const lineAt = lineIndex(text);
  const imports: ModuleImport[] = [];
  const exports: ModuleExport[] = [];

  for (const entry of parsed.module.staticImports) {
    const names = entry.entries.map((name) => {
      if (name.importName.kind === "Default") return "default";
      return name.importName.kind === "Name" ? (name.importName.name ?? "*") : "*";
    });
    const declaration = text.slice(entry.start, entry.end);
    imports.push({
      specifier: entry.moduleRequest.value,
      line: lineAt(entry.start),
      typeOnly:
        /^import\s+type\b/.test(declaration) ||
        (entry.entries.length > 0 && entry.entries.every((name) => name.isType)),
      names,
    });
  }
  for (const statement of parsed.module.staticExports) {
    for (const entry of statement.entries) {
      const line = lineAt(entry.start);
      if (entry.moduleRequest === null) {
        const name = entry.exportName.kind === "Default" ? "default" : (entry.exportName.name ?? "default");
        exports.push({ name, localName: entry.localName.name ?? name, line, typeOnly: entry.isType });
      } else {
        imports.push({
          specifier: entry.moduleRequest.value,
          line,
          typeOnly: entry.isType || /^export\s+type\b/.test(text.slice(statement.start, statement.end)),
          names: [entry.importName.kind === "Name" ? (entry.importName.name ?? "*") : "*"],
          reexportedAs: [entry.exportName.kind === "None" ? "*" : (entry.exportName.name ?? "default")],
        });
      }
    }
  }
  const code = blankComments(text, parsed.comments);
  for (const match of code.matchAll(/\bimport\s*\(\s*(["'])([^"']+)\1\s*\)(?:\.(\w+))?/g)) {
    const isType =
      /[:<|&=,(]\s*(?:typeof\s+)?$/.test(code.slice(0, match.index)) && !/\bawait\s*$/.test(code.slice(0, match.index));
    imports.push({
      specifier: match[2] as string,
      line: lineAt(match.index),
      typeOnly: isType && match[3] !== undefined && match[3] !== "then",
      names: ["*"],
    });
  }
  return { path, text, code, lineCount: text.split("\n").length - 1, imports, exports, isTest: isTestPath(path) };
}

function lineIndex(text: string): (offset: number) => number {
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
