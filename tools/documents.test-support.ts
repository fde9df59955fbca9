import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { posix } from "node:path";

/** A Markdown file of the repository. */
export interface Document {
  /** From the repository's root. */
  readonly path: string;
  readonly text: string;
}

/** A block of TypeScript in a document. */
export interface Snippet {
  readonly path: string;
  /** Of the first line of code. */
  readonly line: number;
  /** What the reader is assumed to have, from a comment `<!-- ts … -->` right before the block; the code itself comes after it. */
  readonly given: string;
  readonly code: string;
}

/** All Markdown that is, or is about to be, committed, in order of path. */
export function readDocuments(root: string): readonly Document[] {
  const paths = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z", "*.md"], {
    cwd: root,
    encoding: "utf8",
  });
  return [...new Set(paths.split("\0").filter(Boolean))]
    .sort()
    .map((path) => ({ path, text: readFileSync(posix.join(root, path), "utf8") }));
}

/** Every block that is marked as TypeScript. */
export function snippetsOf({ path, text }: Document): readonly Snippet[] {
  return [...text.matchAll(/(?:<!-- ts\n([\s\S]*?)-->\n+)?```ts\n([\s\S]*?)```/g)].map((match) => {
    const [whole, given = "", code = ""] = match;
    const before = text.slice(0, match.index + whole.indexOf(code, whole.indexOf("```ts")));
    return { path, line: before.split("\n").length, given, code };
  });
}

/** Targets of links to files of the repository, from its root, with the fragment cut off. */
export function fileLinksOf({ path, text }: Document): readonly string[] {
  const prose = text.replace(/```[\s\S]*?```/g, "").replace(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target.replace(/#.*$/, ""))
    .filter((target) => target !== "" && !/^[a-z]+:/.test(target))
    .map((target) => posix.join(posix.dirname(path), target));
}
