import { describe } from "vitest";
import { testSeeds } from "./chaos-seeds.test-support.ts";

describe("a node under random pods, faults, crashes and reboots (first half)", () => {
  testSeeds({ from: 1, to: 500, first: true });
});
