import { stripVTControlCharacters, styleText } from "node:util";

/** How one line of a table ended. */
export type Outcome = "passed" | "failed" | "left out";

/** One line: a name, how it ended, how long it took, and a few words. */
export interface Row {
  name: string;
  outcome: Outcome;
  elapsedMs: number;
  note: string;
}

const marks: Record<Outcome, { text: string; colour: "green" | "red" | "yellow" }> = {
  passed: { text: "ok", colour: "green" },
  failed: { text: "FAILED", colour: "red" },
  "left out": { text: "left out", colour: "yellow" },
};

/** Lays rows out in columns; coloured only when `colour` is set. */
export function formatTable(rows: readonly Row[], { colour }: { colour: boolean }): string {
  const cells = rows.map((row) => {
    const mark = marks[row.outcome];
    return [
      row.name,
      colour ? styleText(mark.colour, mark.text, { validateStream: false }) : mark.text,
      formatSeconds(row.elapsedMs),
      row.note,
    ];
  });
  const widths = [0, 1, 2].map((column) => Math.max(0, ...cells.map((line) => visibleLength(line[column] as string))));
  return cells
    .map((line) => {
      const [name, mark, time, note] = line as [string, string, string, string];
      return `  ${pad(name, widths[0])}  ${pad(mark, widths[1])}  ${" ".repeat((widths[2] ?? 0) - time.length)}${time}  ${note}`.trimEnd();
    })
    .join("\n");
}

/** `0.42 s`, `12.3 s`, `3 min 05 s`. */
export function formatSeconds(elapsedMs: number): string {
  const seconds = elapsedMs / 1000;
  if (seconds < 10) return `${seconds.toFixed(2)} s`;
  if (seconds < 100) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
}

/** Whether a stream takes colours: a terminal, and nobody asked for none. */
export function takesColour(stream: { isTTY?: boolean }): boolean {
  return stream.isTTY === true && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";
}

function visibleLength(text: string): number {
  return stripVTControlCharacters(text).length;
}

function pad(text: string, width = 0): string {
  return text + " ".repeat(Math.max(0, width - visibleLength(text)));
}
