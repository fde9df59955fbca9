import { expect, it } from "vitest";
import { Chaos } from "./chaos.test-support.ts";

/** Seeds from the first to the last. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** How to run one seed again, with the agent's log on stdout. */
function replay(seed: number): string {
  return `NODELET_SEED=${seed} node_modules/.bin/vitest run --mode simulation packages/testkit/src/node/chaos-a.sim.test.ts`;
}

/** The one seed that NODELET_SEED names, or the range of NODELET_SEEDS=from-to. */
function namedSeeds(): Range | undefined {
  const { NODELET_SEED: one, NODELET_SEEDS: some = "" } = process.env;
  if (one !== undefined) return { from: Number(one), to: Number(one) };
  const range = /^(\d+)-(\d+)$/.exec(some);
  return range === null ? undefined : { from: Number(range[1]), to: Number(range[2]) };
}

async function failuresOf({ from, to }: Range): Promise<readonly string[]> {
  const failures: string[] = [];
  for (let seed = from; seed <= to; seed += 1) {
    const chaos = new Chaos(seed);
    const problems = await chaos.run().catch((error: unknown) => [String(error)]);
    if (from === to)
      for (const { level, message, fields } of chaos.node.logger.records) console.log(level, message, fields);
    if (problems.length > 0) failures.push(`seed ${seed}: ${problems.join("; ")}\n  replay: ${replay(seed)}`);
  }
  return failures;
}

/**
 * One test over a range of seeds. When seeds are named in the environment, the first file runs those and the others run one of their own, so that
 * no file is without a test.
 */
export function testSeeds(range: Range & { readonly first: boolean }): void {
  const named = namedSeeds();
  const own = named === undefined ? range : { from: range.from, to: range.from };
  const { from, to } = range.first ? (named ?? range) : own;
  it(`holds every invariant for seeds ${from} to ${to}`, { timeout: 3_600_000 }, async () => {
    const failures = await failuresOf({ from, to });
    expect(failures, failures.join("\n")).toEqual([]);
  });
}
