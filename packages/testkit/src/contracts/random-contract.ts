import type { Random } from "@nodelet/core";
import { expect } from "vitest";
import { type ContractFixture, type ContractOptions, describeContract } from "./contract.ts";

/** A Random. */
export interface RandomFixture extends ContractFixture {
  readonly random: Random;
}

/** What every Random must do. */
export function describeRandomContract(options: ContractOptions<RandomFixture>): void {
  describeContract("Random contract", options, (test) => {
    test("draws in [0, 1), on both halves, and not the same again", async ({ random }) => {
      const draws = Array.from({ length: 1_000 }, () => random.float());
      expect(draws.every((draw) => draw >= 0 && draw < 1)).toBe(true);
      const upper = draws.filter((draw) => draw >= 0.5).length;
      // 500 expected; the standard deviation of a binomial(1000, 0.5) is 16: a failure by chance is rarer than one in 10^9.
      expect(Math.abs(upper - 500)).toBeLessThan(100);
      expect(new Set(draws).size).toBeGreaterThan(990);
    });

    test("makes version 4 UUIDs in lower case that differ", async ({ random }) => {
      const uuids = Array.from({ length: 200 }, () => random.uuid());
      for (const uuid of uuids)
        expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(new Set(uuids).size).toBe(200);
    });
  });
}
