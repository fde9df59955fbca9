import { execFileSync } from "node:child_process";
import { lstatSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runCommand } from "../run-command.ts";
import { formatTable, type Row, takesColour } from "../table.ts";
import { type Finding, formatFinding } from "./finding.ts";
import { checkCycles } from "./rule-cycles.ts";
import { checkDeadExports } from "./rule-dead-exports.ts";
import { checkDependencies } from "./rule-dependencies.ts";
import { checkDirections } from "./rule-directions.ts";
import { checkDocs } from "./rule-docs.ts";
import { checkSizes } from "./rule-sizes.ts";
import { checkWords } from "./rule-words.ts";
import { loadWorkspace, type Workspace } from "./workspace.ts";

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/** One line of the table: a tool that is run, or a rule of our own over the parsed sources. */
type Part = { name: string; what: string } & (
  | {
      command: [string, ...string[]];
      fix?: [string, ...string[]];
      /** Turns what a failed command wrote into the usual form. */
      tidy?: (output: string) => string;
    }
  | { rule: (workspace: Workspace) => readonly Finding[] }
);

/** What the tools write is read here and shown without colours. */
const plainEnv: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined };

const bin = (name: string) => `${root}/node_modules/.bin/${name}`;

const parts: readonly Part[] = [
  { name: "types", what: "tsc -b over all projects", command: [bin("tsc"), "-b"] },
  {
    name: "lint",
    what: "oxlint, with types",
    command: [bin("oxlint"), "--format=unix"],
    fix: [bin("oxlint"), "--format=unix", "--fix"],
  },
  {
    name: "format",
    what: "biome",
    command: [bin("biome"), "check", "--reporter=github", "--max-diagnostics=200"],
    fix: [bin("biome"), "check", "--write", "--reporter=github"],
    tidy: tidyBiome,
  },
  { name: "directions", what: "which package may import which", rule: checkDirections },
  { name: "cycles", what: "import cycles inside a package", rule: checkCycles },
  { name: "exports", what: "exports that nothing uses", rule: checkDeadExports },
  { name: "dependencies", what: "declared, used, exact, in docs/dependencies.md", rule: checkDependencies },
  { name: "docs", what: "a doc comment on every export", rule: checkDocs },
  { name: "sizes", what: "file lengths", rule: checkSizes },
  {
    name: "words",
    what: "no registry hosts, nothing of the workplace",
    rule: () => checkWords(committedFiles(), readText),
  },
];

/** From workflow commands of a CI system to `file:line: message`. */
function tidyBiome(output: string): string {
  const findings = [...output.matchAll(/^::\w+ title=([^,]+),file=([^,]+),line=(\d+).*?::(.*)$/gm)];
  const lines = findings.map(([, title, file, line, message]) => {
    const what = title === "format" ? "is not formatted (npm run check -- --fix)" : `${message} (${title})`;
    return `${(file as string).replace(`${root}/`, "")}:${line}: ${what}`;
  });
  return lines.length > 0 ? lines.join("\n") : output;
}

function committedFiles(): string[] {
  return execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], { cwd: root, encoding: "utf8" })
    .split("\0")
    .filter(Boolean);
}

function readText(path: string): string | undefined {
  const stat = lstatSync(`${root}/${path}`, { throwIfNoEntry: false });
  if (stat === undefined || !stat.isFile() || path === "pnpm-lock.yaml" || stat.size > 8 * 1024 * 1024) {
    return undefined;
  }
  const bytes = readFileSync(`${root}/${path}`);
  return bytes.includes(0) ? undefined : bytes.toString("utf8");
}

async function runPart(
  part: Part,
  { fix, workspace }: { fix: boolean; workspace: () => Workspace },
): Promise<{ row: Row; details: string }> {
  const started = performance.now();
  const finish = (failed: boolean, note: string, details: string): { row: Row; details: string } => ({
    row: { name: part.name, outcome: failed ? "failed" : "passed", elapsedMs: performance.now() - started, note },
    details,
  });
  if ("command" in part) {
    const result = await runCommand((fix && part.fix) || part.command, { cwd: root, env: plainEnv });
    return finish(
      result.code !== 0,
      part.what,
      result.code === 0 ? "" : (part.tidy?.(result.output) ?? result.output).trimEnd(),
    );
  }
  try {
    const findings = part.rule(workspace());
    const failed = findings.some((finding) => finding.severity === "error");
    const note = findings.length === 0 ? part.what : `${part.what}: ${findings.length} found`;
    return finish(failed, note, findings.map(formatFinding).join("\n"));
  } catch (problem) {
    return finish(true, part.what, problem instanceof Error ? problem.message : String(problem));
  }
}

async function main(): Promise<number> {
  const names = parts.map((part) => part.name);
  const { values } = parseArgs({
    options: {
      only: { type: "string" },
      fix: { type: "boolean", default: false },
      report: { type: "string" },
      help: { type: "boolean" },
    },
  });
  if (values.help) {
    console.log(`npm run check [-- --only NAME,NAME] [--fix]\n  parts: ${names.join(", ")}`);
    return 0;
  }
  const wanted = values.only === undefined ? names : values.only.split(",");
  const unknown = wanted.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    console.error(`no part named ${unknown.join(", ")}: the parts are ${names.join(", ")}`);
    return 2;
  }
  let loaded: Workspace | undefined;
  const workspace = (): Workspace => (loaded ??= loadWorkspace(root));
  const chosen = parts.filter((part) => wanted.includes(part.name));
  // The external tools run beside each other; our own rules run on this thread meanwhile.
  const results = await Promise.all(chosen.map((part) => runPart(part, { fix: values.fix, workspace })));
  for (const { row, details } of results) {
    if (details !== "") console.log(`${row.name}:\n${details}\n`);
  }
  console.log(
    formatTable(
      results.map(({ row }) => row),
      { colour: takesColour(process.stdout) },
    ),
  );
  if (values.report !== undefined) {
    writeFileSync(values.report, JSON.stringify(results.map(({ row }) => row)));
  }
  return results.some(({ row }) => row.outcome === "failed") ? 1 : 0;
}

process.exitCode = await main();
