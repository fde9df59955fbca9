import { expect, it } from "vitest";
import { Chaos } from "./chaos.test-support.ts";

/** How to run one seed again, with the agent's log on stdout. */
function replay(seed: number): string {
  return `NODELET_SEED=${seed} node_modules/.bin/vitest run --mode simulation packages/testkit/src/node/chaos-a.sim.test.ts`;
}

/**
 * One test over a range of seeds (both ends included). NODELET_SEED narrows it to one seed and prints the log; NODELET_SEEDS=from-to takes another
 * range, in the first file only.
 */
export function testSeeds(range: { readonly from: number; readonly to: number; readonly first: boolean }): void {
  const one = process.env["NODELET_SEED"];
  const wanted = /^(\d+)-(\d+)$/.exec(process.env["NODELET_SEEDS"] ?? "");
  if ((one !== undefined || wanted !== null) && !range.first) {
    it("is left to the first file, since seeds were named", () => expect(range.first).toBe(false));
    return;
  }
  const from = Number(one ?? wanted?.[1] ?? range.from);
  const to = Number(one ?? wanted?.[2] ?? range.to);
  it(`holds every invariant for seeds ${from} to ${to}`, { timeout: 3_600_000 }, async () => {
    const failed: string[] = [];
    for (let seed = from; seed <= to; seed += 1) {
      const chaos = new Chaos(seed);
      const problems = await chaos.run().catch((error: unknown) => [String(error)]);
      if (one !== undefined)
        for (const { level, message, fields } of chaos.node.logger.records) console.log(level, message, fields);
      if (problems.length > 0) failed.push(`seed ${seed}: ${problems.join("; ")}\n  replay: ${replay(seed)}`);
    }
    expect(failed, failed.join("\n")).toEqual([]);
  });
}
