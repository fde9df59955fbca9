import { describe } from "vitest";
import { testSeeds } from "./chaos-seeds.test-support.ts";

describe("a node under random pods, faults, crashes and reboots (second half)", () => {
  testSeeds({ from: 501, to: 1000, first: false });
});
