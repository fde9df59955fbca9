import { stripVTControlCharacters } from "node:util";
import { expect, it } from "vitest";
import { formatTable, type Row, takesColour } from "./table.ts";

const rows: Row[] = [
  { name: "types", outcome: "passed", elapsedMs: 1234, note: "tsc" },
  { name: "e2e", outcome: "left out", elapsedMs: 0, note: "not root" },
  { name: "a long name", outcome: "failed", elapsedMs: 185_000, note: "" },
];

it("lays out columns without colours when none are wanted", () => {
  expect(formatTable(rows, { colour: false }).split("\n")).toEqual([
    "  types        ok            1.23 s  tsc",
    "  e2e          left out      0.00 s  not root",
    "  a long name  FAILED    3 min 05 s",
  ]);
});

it("keeps the columns when it colours", () => {
  const coloured = formatTable(rows, { colour: true });
  expect(coloured).toContain("\u001b[31mFAILED\u001b[39m");
  expect(stripVTControlCharacters(coloured)).toBe(formatTable(rows, { colour: false }));
});

it("colours terminals only", () => {
  expect(takesColour({})).toBe(false);
  expect(takesColour({ isTTY: false })).toBe(false);
});
