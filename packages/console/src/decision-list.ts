import { type DecisionRecord, stringifyJson } from "@nodelet/core";
import { shortAge } from "./age.ts";
import { type Cell, type Column, layOutTable, paint, type Tone } from "./table.ts";
import { cutText, printable } from "./text-width.ts";

const COLUMNS: readonly Column[] = [
  { title: "AGE", align: "right" },
  { title: "OUTCOME" },
  { title: "ACTION", dropOrder: 2 },
  { title: "CONTAINER", dropOrder: 1, shrink: { order: 2, to: 8 } },
  { title: "REASON", dropOrder: 3, shrink: { order: 1, to: 12 } },
];
const TONES: Readonly<Record<DecisionRecord["outcome"], Tone>> = {
  ok: "good",
  failed: "bad",
  waiting: "busy",
  rejected: "bad",
};
const INDENT = "    ";

/**
 * Decisions as people read them, oldest first: a line of facts each, below it the message, and below that the inputs and the next try. `width` in
 * cells of the terminal: inputs are cut to it, messages wrap at words; no limit when absent.
 */
export function decisionList(
  records: readonly DecisionRecord[],
  options: { readonly nowMs: number; readonly width?: number; readonly colour: boolean },
): string[] {
  const { colour, width, nowMs } = options;
  const [titles, ...facts] = layOutTable({
    columns: COLUMNS,
    rows: records.map((record) => factCells(record, nowMs)),
    colour,
    ...(width !== undefined && { width }),
  });
  const lines = facts.flatMap((line, index) => {
    const record = records[index];
    if (record === undefined) return [line];
    const inputs = inputsOf(record, nowMs);
    const shown = width === undefined ? inputs : cutText(inputs, width - INDENT.length);
    return [
      line,
      ...wrapWords(printable(record.message), width).map((part) => `${INDENT}${part}`),
      ...(shown === "" ? [] : [`${INDENT}${paint(shown, "dim", colour)}`]),
    ];
  });
  return titles === undefined ? lines : [titles, ...lines];
}

function factCells(record: DecisionRecord, nowMs: number): Cell[] {
  const count = record.count > 1 ? ` x${record.count}` : "";
  return [
    { text: shortAge(nowMs - record.atMs) },
    { text: `${record.outcome}${count}`, tone: TONES[record.outcome] },
    { text: record.action },
    { text: record.container ?? "" },
    { text: record.reason },
  ];
}

function inputsOf(record: DecisionRecord, nowMs: number): string {
  const inputs = Object.entries(record.inputs ?? {})
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${typeof value === "string" ? value : stringifyJson(value)}`);
  if (record.nextTryMs !== undefined && record.nextTryMs > nowMs)
    inputs.push(`next try in ${shortAge(record.nextTryMs - nowMs)}`);
  return printable(inputs.join(" "));
}

function wrapWords(text: string, width: number | undefined): string[] {
  if (width === undefined) return [text];
  const limit = Math.max(20, width - INDENT.length);
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (longer.length <= limit || line === "") line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}
