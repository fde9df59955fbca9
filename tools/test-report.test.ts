import { describe, expect, it } from "vitest";
import { countVitest, summarize, type TierResult } from "./test-report.ts";

const file = (status: string, tests: string[], message?: string) => ({
  name: "/repo/a.test.ts",
  status,
  ...(message === undefined ? {} : { message }),
  assertionResults: tests.map((testStatus, index) => ({ fullName: `t${index}`, status: testStatus })),
});

describe("counting a vitest report", () => {
  it("counts passed, failed and every kind of not run", () => {
    const counts = countVitest({
      success: false,
      testResults: [file("failed", ["passed", "failed", "skipped", "pending", "todo"])],
    });
    expect(counts).toEqual({
      passed: 1,
      failed: ["/repo/a.test.ts: t1"],
      skipped: ["/repo/a.test.ts: t2", "/repo/a.test.ts: t3", "/repo/a.test.ts: t4"],
    });
  });

  it("counts a file that does not load as a failure", () => {
    const counts = countVitest({ success: false, testResults: [file("failed", [], "Cannot find module\nat x")] });
    expect(counts.failed).toEqual(["/repo/a.test.ts: the file itself failed: Cannot find module"]);
  });

  it("counts a run that failed outside of its tests", () => {
    const counts = countVitest({ success: false, testResults: [file("passed", ["passed"])] });
    expect(counts).toMatchObject({ passed: 1, failed: ["the run failed outside of its tests"] });
  });
});

describe("the end of a run of all tiers", () => {
  const green: TierResult = { name: "unit", elapsedMs: 1, counts: { passed: 3, failed: [], skipped: [] } };
  const skipping: TierResult = { name: "e2e", elapsedMs: 1, counts: { passed: 1, failed: [], skipped: ["a"] } };
  const leftOut: TierResult = { name: "e2e", elapsedMs: 0, counts: undefined, leftOut: "not root" };
  const red: TierResult = { name: "pack", elapsedMs: 1, counts: { passed: 1, failed: ["b", "c"], skipped: [] } };
  const empty: TierResult = { name: "simulation", elapsedMs: 1, counts: { passed: 0, failed: [], skipped: [] } };

  it.each([
    { tiers: [green], nothingLeftOut: true, closingLine: "3 passed, 0 failed", exitCode: 0 },
    { tiers: [green, red], nothingLeftOut: false, closingLine: "4 passed, 2 failed", exitCode: 1 },
    { tiers: [green, leftOut], nothingLeftOut: false, closingLine: "3 passed, 0 failed", exitCode: 0 },
    { tiers: [green, leftOut], nothingLeftOut: true, closingLine: "3 passed, 1 failed", exitCode: 1 },
    { tiers: [green, skipping], nothingLeftOut: false, closingLine: "4 passed, 0 failed, 1 skipped", exitCode: 0 },
    { tiers: [green, skipping], nothingLeftOut: true, closingLine: "4 passed, 1 failed", exitCode: 1 },
    { tiers: [green, empty], nothingLeftOut: false, closingLine: "3 passed, 1 failed", exitCode: 1 },
  ])("$closingLine", ({ tiers, nothingLeftOut, closingLine, exitCode }) => {
    expect(summarize(tiers, { nothingLeftOut })).toMatchObject({ closingLine, exitCode });
  });

  it("lists what was left out with its reason, and what failed or was skipped by name", () => {
    const summary = summarize([skipping, red, leftOut], { nothingLeftOut: false });
    expect(summary.rows.at(-1)).toMatchObject({ name: "e2e", outcome: "left out", note: "left out: not root" });
    expect(summary.remarks).toEqual(["e2e: skipped: a", "pack: failed: b", "pack: failed: c"]);
  });
});
