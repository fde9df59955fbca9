import { describe, expect, it } from "vitest";
import { SeededRandom } from "./seeded-random.ts";

const draws = (random: SeededRandom, count: number) => Array.from({ length: count }, () => random.float());

describe("SeededRandom", () => {
  it("repeats for one seed and differs between seeds", () => {
    expect(draws(new SeededRandom(7), 50)).toEqual(draws(new SeededRandom(7), 50));
    expect(draws(new SeededRandom("7"), 50)).not.toEqual(draws(new SeededRandom("8"), 50));
    expect(draws(new SeededRandom(0), 5)).not.toEqual(draws(new SeededRandom(1), 5));
  });

  it("draws floats in [0, 1) that spread evenly", () => {
    const values = draws(new SeededRandom(3), 10_000);
    expect(values.every((value) => value >= 0 && value < 1)).toBe(true);
    for (let tenth = 0; tenth < 10; tenth += 1) {
      const count = values.filter((value) => Math.floor(value * 10) === tenth).length;
      // 1000 expected; the standard deviation of a binomial(10000, 0.1) is 30.
      expect(Math.abs(count - 1_000)).toBeLessThan(150);
    }
  });

  it("makes version 4 UUIDs of the RFC 4122 variant that differ", () => {
    const random = new SeededRandom("uuid");
    const uuids = Array.from({ length: 1_000 }, () => random.uuid());
    for (const uuid of uuids)
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(uuids).size).toBe(1_000);
  });

  it("draws whole numbers of the whole range, both ends included", () => {
    const random = new SeededRandom(11);
    const seen = new Set(Array.from({ length: 500 }, () => random.int({ min: -1, max: 2 })));
    expect([...seen].sort((a, b) => a - b)).toEqual([-1, 0, 1, 2]);
  });

  it("keeps to the ends of a probability", () => {
    const random = new SeededRandom(2);
    const outcomes = (probability: number) => new Set(Array.from({ length: 200 }, () => random.chance(probability)));
    expect([outcomes(0), outcomes(1), outcomes(0.5)]).toEqual([
      new Set([false]),
      new Set([true]),
      new Set([true, false]),
    ]);
  });

  it("picks among all items and refuses an empty list", () => {
    const random = new SeededRandom(5);
    expect(new Set(Array.from({ length: 100 }, () => random.pick(["a", "b", "c"])))).toEqual(new Set(["a", "b", "c"]));
    expect(() => random.pick([])).toThrow("at least one item");
  });

  it("shuffles without losing or changing the items given", () => {
    const items = [1, 2, 3, 4, 5, 6, 7, 8];
    const shuffled = new SeededRandom(9).shuffle(items);
    expect([...shuffled].sort((a, b) => a - b)).toEqual(items);
    expect(items).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(shuffled).not.toEqual(items);
  });

  it("forks generators that the parent's draws do not disturb", () => {
    const untouched = new SeededRandom(1);
    const used = new SeededRandom(1);
    draws(used, 17);
    expect(draws(used.fork("faults"), 5)).toEqual(draws(untouched.fork("faults"), 5));
    expect(draws(untouched.fork("pods"), 5)).not.toEqual(draws(untouched.fork("faults"), 5));
  });
});
