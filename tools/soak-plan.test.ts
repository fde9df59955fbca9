import { describe, expect, it } from "vitest";
import { failedSeeds, planSoak, seedBatches } from "./soak-plan.ts";

const nothing = { minutes: undefined, seeds: undefined, randomStart: 77 };
const endless = Number.POSITIVE_INFINITY;

describe("the plan of a soak", () => {
  it("is half an hour from a random seed unless told otherwise", () => {
    expect(planSoak(nothing)).toEqual({ from: 77, to: endless, minutes: 30 });
    expect(planSoak({ ...nothing, minutes: "2.5" })).toEqual({ from: 77, to: endless, minutes: 2.5 });
  });

  it("takes the seeds that are named, all of them or as many as time allows", () => {
    expect(planSoak({ ...nothing, seeds: "5-9" })).toEqual({ from: 5, to: 9, minutes: endless });
    expect(planSoak({ ...nothing, seeds: "5-5", minutes: "1" })).toEqual({ from: 5, to: 5, minutes: 1 });
  });

  it.each([
    ["minutes", "0", "--minutes 0: expected a number of minutes above 0"],
    ["minutes", "-1", "--minutes -1: expected a number of minutes above 0"],
    ["minutes", "ten", "--minutes ten: expected a number of minutes above 0"],
    ["seeds", "9-5", "--seeds 9-5: expected FROM-TO, for example 1-5000"],
    ["seeds", "5", "--seeds 5: expected FROM-TO, for example 1-5000"],
    ["seeds", "1-9999999999", "--seeds 1-9999999999: expected FROM-TO, for example 1-5000"],
  ])("refuses --%s %s", (option, value, message) => {
    expect(() => planSoak({ ...nothing, [option]: value })).toThrow(message);
  });

  it("is cut into batches that cover each seed once", () => {
    const seven = { from: 1, to: 7, minutes: 1 };
    expect([...seedBatches(seven, { batchSeeds: 3, workers: 1 })]).toEqual([
      { from: 1, to: 3 },
      { from: 4, to: 6 },
      { from: 7, to: 7 },
    ]);
    expect([...seedBatches(seven, { batchSeeds: 100, workers: 2 })]).toEqual([
      { from: 1, to: 4 },
      { from: 5, to: 7 },
    ]);
    const [first] = seedBatches({ from: 10, to: endless, minutes: 1 }, { batchSeeds: 5, workers: 2 });
    expect(first).toEqual({ from: 10, to: 14 });
  });
});

describe("what a report tells of failed seeds", () => {
  const told = (message: string) =>
    failedSeeds({ testResults: [{ assertionResults: [{ failureMessages: [message] }] }] });

  it("is nothing when all held", () => {
    expect(failedSeeds({ testResults: [{ message: "", assertionResults: [{ failureMessages: [] }] }] })).toEqual([]);
  });

  it("is each seed with its problems and its replay command", () => {
    const one = "seed 4: a container is left; pods are left: a, b\n  replay: NODELET_SEED=4 vitest run chaos";
    const two = "seed 9: Error: x\n  replay: NODELET_SEED=9 vitest run chaos";
    expect(
      told(`AssertionError: ${one}\n${two}: expected [ Array(2) ] to deeply equal []\n    at file.ts:1:2`),
    ).toEqual([one, two]);
  });

  it("is the whole message when it is about no seed", () => {
    expect(told("Error: out of memory")).toEqual(["Error: out of memory"]);
    expect(failedSeeds({ testResults: [{ message: "cannot load", assertionResults: [] }] })).toEqual(["cannot load"]);
  });
});
