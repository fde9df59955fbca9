import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runCommand } from "../tools/run-command.ts";
import { type BatchReport, failedSeeds, planSoak, type SeedRange, seedBatches } from "../tools/soak-plan.ts";
import { formatSeconds } from "../tools/table.ts";

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
const reportFolder = `${root}/.cache/soak`;
const simulation = "packages/testkit/src/node/chaos-a.sim.test.ts";
/** Long enough that starting a process does not matter, short enough to tell of progress. */
const BATCH_SEEDS = 200;
const BATCH_LIMIT_MS = 30 * 60_000;

const usage = `npm run soak [-- --minutes N] [-- --seeds FROM-TO]

Runs the simulation (random pods, faults, crashes and reboots of a node in memory) on many seeds, one process a core.
  --minutes N       begin no batch of ${BATCH_SEEDS} seeds after N minutes; 30 when neither is given
  --seeds FROM-TO   these seeds, both ends included; without it they begin at a random one, which is told`;

/** Runs one batch in a process of its own; answers the seeds that did not hold. */
async function runBatch(range: SeedRange): Promise<readonly string[]> {
  const reportFile = `${reportFolder}/${range.from}.json`;
  rmSync(reportFile, { force: true });
  const command = ["--reporter=json", `--outputFile=${reportFile}`];
  const { code, output } = await runCommand(
    [`${root}/node_modules/.bin/vitest`, "run", "--mode=simulation", simulation, ...command],
    {
      cwd: root,
      env: { ...process.env, NODELET_SEED: undefined, NODELET_SEEDS: `${range.from}-${range.to}` },
      limitMs: BATCH_LIMIT_MS,
    },
  );
  if (code === 0) return [];
  const what = `seeds ${range.from} to ${range.to}`;
  if (!existsSync(reportFile)) return [`${what}: the process ended with exit code ${code}:\n${output.slice(-4000)}`];
  const failed = failedSeeds(JSON.parse(readFileSync(reportFile, "utf8")) as BatchReport);
  return failed.length > 0 ? failed : [`${what}: exit code ${code}, and no test that failed`];
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { minutes: { type: "string" }, seeds: { type: "string" }, help: { type: "boolean" } },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const randomStart = 1_000_000 + Math.floor(Math.random() * 1_000_000_000);
  const plan = planSoak({ minutes: values.minutes, seeds: values.seeds, randomStart });
  const workers = availableParallelism();
  mkdirSync(reportFolder, { recursive: true });
  console.log(
    `Seeds from ${plan.from}${Number.isFinite(plan.to) ? ` to ${plan.to}` : ""}, ${workers} at a time` +
      `${Number.isFinite(plan.minutes) ? `, for ${plan.minutes} minutes` : ""}.`,
  );
  const started = performance.now();
  const failed: string[] = [];
  let done = 0;
  const batches = seedBatches(plan, { batchSeeds: BATCH_SEEDS, workers });
  const work = async (): Promise<void> => {
    for (const batch of batches) {
      failed.push(...(await runBatch(batch)));
      done += batch.to - batch.from + 1;
      const elapsedMs = performance.now() - started;
      const rate = (done / (elapsedMs / 1000)).toFixed(1);
      console.log(`  ${done} seeds in ${formatSeconds(elapsedMs)}, ${rate} a second, ${failed.length} failed`);
      if (elapsedMs > plan.minutes * 60_000) return;
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  for (const problem of failed) console.log(`\n${problem}`);
  const elapsed = formatSeconds(performance.now() - started);
  console.log(`\n${done} seeds, ${done - failed.length} held every invariant, ${failed.length} failed, ${elapsed}`);
  return failed.length === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (problem) {
  console.error(problem instanceof Error ? problem.message : problem);
  process.exitCode = 2;
}
