import type { Row } from "./table.ts";

/** How many tests a tier ran, and the names of those that failed or were skipped. */
export interface Counts {
  passed: number;
  failed: string[];
  skipped: readonly string[];
}

/** What is read of the report that vitest's JSON reporter writes. */
export interface VitestReport {
  success: boolean;
  testResults: readonly {
    name: string;
    status: string;
    message?: string;
    assertionResults: readonly { fullName: string; status: string }[];
  }[];
}

/**
 * Counts a vitest report. A file that failed without a failed test (it does not load, or a hook threw), and a run that
 * failed although no test did (an error outside of all tests), count as one failure each: nothing red gets lost in the sum.
 */
export function countVitest(report: VitestReport): Counts {
  let passed = 0;
  const failed: string[] = [];
  const skipped: string[] = [];
  for (const file of report.testResults) {
    const before = failed.length;
    for (const test of file.assertionResults) {
      const title = `${file.name}: ${test.fullName}`;
      if (test.status === "passed") passed += 1;
      else if (test.status === "failed") failed.push(title);
      else skipped.push(title);
    }
    if (file.status === "failed" && failed.length === before) {
      failed.push(`${file.name}: the file itself failed: ${file.message?.split("\n")[0] ?? "no message"}`);
    }
  }
  if (!report.success && failed.length === 0) {
    failed.push("the run failed outside of its tests");
  }
  return { passed, failed, skipped };
}

/** One tier that was run, or the reason why it was not. */
export interface TierResult {
  name: string;
  elapsedMs: number;
  counts: Counts | undefined;
  leftOut?: string;
}

/** The end of a run of all tiers: the lines of the table, what was left out, the closing line and the exit code. */
export interface Summary {
  rows: readonly Row[];
  remarks: readonly string[];
  /** `N passed, N failed`, with `, N skipped` when some were. */
  closingLine: string;
  exitCode: number;
}

/**
 * Adds the tiers up.
 * @param options.nothingLeftOut what CI asks for: a tier that could not run and a test that was skipped count as failures.
 */
export function summarize(tiers: readonly TierResult[], options: { nothingLeftOut: boolean }): Summary {
  const rows: Row[] = [];
  const remarks: string[] = [];
  let passed = 0;
  let failed = 0;
  let skipped = 0;
  for (const { name, elapsedMs, counts, leftOut } of tiers) {
    if (counts === undefined) {
      const outcome = options.nothingLeftOut ? "failed" : "left out";
      rows.push({ name, outcome, elapsedMs, note: `left out: ${leftOut ?? "no reason given"}` });
      failed += options.nothingLeftOut ? 1 : 0;
      continue;
    }
    const nothingRan = counts.passed + counts.failed.length + counts.skipped.length === 0;
    const strictly = options.nothingLeftOut ? counts.skipped.length : 0;
    const red = counts.failed.length + strictly + (nothingRan ? 1 : 0);
    const parts = [`${counts.passed} passed`, `${counts.failed.length} failed`];
    if (counts.skipped.length > 0) parts.push(`${counts.skipped.length} skipped`);
    if (nothingRan) parts.push("no test ran");
    rows.push({ name, outcome: red > 0 ? "failed" : "passed", elapsedMs, note: parts.join(", ") });
    remarks.push(...counts.failed.map((title) => `${name}: failed: ${title}`));
    remarks.push(...counts.skipped.map((title) => `${name}: skipped: ${title}`));
    passed += counts.passed;
    failed += red;
    skipped += counts.skipped.length - strictly;
  }
  const closingLine = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
  return { rows, remarks, closingLine, exitCode: failed > 0 ? 1 : 0 };
}
