import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runCommand } from "../tools/run-command.ts";
import { formatSeconds, formatTable, takesColour } from "../tools/table.ts";
import { type Counts, countVitest, summarize, type TierResult, type VitestReport } from "../tools/test-report.ts";

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
const reportFolder = `${root}/.cache/test`;

/** A step of `npm test`. `cannotRun` gives the reason why this machine cannot run it. */
interface Tier {
  name: string;
  what: string;
  limitMinutes: number;
  command: (reportFile: string) => [string, ...string[]];
  read: (report: unknown) => Counts;
  cannotRun?: () => string | undefined;
}

const vitest = (mode: string): Pick<Tier, "command" | "read"> => ({
  command: (reportFile) => [
    `${root}/node_modules/.bin/vitest`,
    "run",
    `--mode=${mode}`,
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${reportFile}`,
  ],
  read: (report) => countVitest(report as VitestReport),
});

const tiers: readonly Tier[] = [
  {
    name: "check",
    limitMinutes: 5,
    what: "types, lint, format and the rules of the house",
    command: (reportFile) => [process.execPath, `${root}/tools/check/main.ts`, "--report", reportFile],
    read: readCheckReport,
  },
  { name: "unit", limitMinutes: 10, what: "unit and contract tests", ...vitest("test") },
  {
    name: "simulation",
    limitMinutes: 6,
    what: "the invariants under random faults and crashes",
    ...vitest("simulation"),
  },
  { name: "pack", limitMinutes: 5, what: "the packed packages in an empty project", ...vitest("pack") },
  {
    name: "e2e",
    limitMinutes: 20,
    what: "real containerd on this machine",
    ...vitest("e2e"),
    cannotRun: needsRootOnLinux,
  },
  { name: "bench", limitMinutes: 5, what: "the benches, once, small", ...vitest("bench"), cannotRun: needsRootOnLinux },
];

function readCheckReport(report: unknown): Counts {
  const parts = report as { name: string; outcome: string }[];
  return {
    passed: parts.filter((part) => part.outcome === "passed").length,
    failed: parts.filter((part) => part.outcome === "failed").map((part) => part.name),
    skipped: [],
  };
}

function needsRootOnLinux(): string | undefined {
  if (process.platform !== "linux") {
    return `containers need Linux, and this is ${process.platform}`;
  }
  return process.getuid?.() === 0 ? undefined : "containerd needs root, and this is not root: run it with sudo";
}

async function runTier(tier: Tier): Promise<TierResult> {
  const leftOut = tier.cannotRun?.();
  if (leftOut !== undefined) {
    return { name: tier.name, elapsedMs: 0, counts: undefined, leftOut };
  }
  console.log(`\n--- ${tier.name}: ${tier.what}`);
  const started = performance.now();
  const reportFile = `${reportFolder}/${tier.name}.json`;
  rmSync(reportFile, { force: true });
  // Some tools colour what they write whenever CI is set.
  const env = takesColour(process.stdout) ? process.env : { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined };
  const result = await runCommand(tier.command(reportFile), {
    cwd: root,
    env,
    show: true,
    limitMs: tier.limitMinutes * 60_000,
  });
  const counts: Counts = existsSync(reportFile)
    ? tier.read(JSON.parse(readFileSync(reportFile, "utf8")))
    : { passed: 0, failed: ["it wrote no report"], skipped: [] };
  if (result.timedOut) {
    counts.failed = [...counts.failed, `it was ended after ${tier.limitMinutes} minutes`];
  }
  const silent = result.code !== 0 && counts.failed.length === 0;
  return {
    name: tier.name,
    elapsedMs: performance.now() - started,
    counts: silent ? { ...counts, failed: [`it ended with exit code ${result.code}`] } : counts,
  };
}

async function main(): Promise<number> {
  const names = tiers.map((tier) => tier.name);
  const { values } = parseArgs({ options: { tier: { type: "string" }, help: { type: "boolean" } } });
  if (values.help) {
    const lines = tiers.map((tier) => `  ${tier.name.padEnd(12)}${tier.what}`);
    console.log(`npm test [-- --tier NAME,NAME]: all tiers in this order, or only those named\n${lines.join("\n")}`);
    return 0;
  }
  const wanted = values.tier === undefined ? names : values.tier.split(",");
  const unknown = wanted.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    console.error(`no tier named ${unknown.join(", ")}: the tiers are ${names.join(", ")}`);
    return 2;
  }
  mkdirSync(reportFolder, { recursive: true });
  const started = performance.now();
  const results: TierResult[] = [];
  for (const tier of tiers.filter((entry) => wanted.includes(entry.name))) {
    results.push(await runTier(tier));
  }
  const summary = summarize(results, { nothingLeftOut: process.env["CI"] === "true" });
  console.log(`\n--- all tiers, ${formatSeconds(performance.now() - started)}`);
  console.log(summary.remarks.map((remark) => `  ${remark.replaceAll(`${root}/`, "")}\n`).join(""));
  console.log(formatTable(summary.rows, { colour: takesColour(process.stdout) }));
  console.log(`\n${summary.closingLine}`);
  return summary.exitCode;
}

process.exitCode = await main();
