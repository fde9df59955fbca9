import { styleText } from "node:util";
import { cutText, printable, textWidth } from "./text-width.ts";

/** What a cell tells at a glance; it becomes its colour. */
export type Tone = "plain" | "good" | "busy" | "bad" | "dim";

/** One cell. */
export interface Cell {
  readonly text: string;
  readonly tone?: Tone;
}

/** One column. */
export interface Column {
  readonly title: string;
  /** Numbers stand right. Default left. */
  readonly align?: "left" | "right";
  /** When the terminal is too narrow, columns go in ascending order of this; those without stay. */
  readonly dropOrder?: number;
  /** The column may be cut down to `to` cells before any column goes, in ascending order of `order`. */
  readonly shrink?: { readonly order: number; readonly to: number };
}

/** A table to lay out. Each row has one cell a column. */
export interface TableInput {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
  /** Cells of the terminal; no limit when absent. */
  readonly width?: number;
  readonly colour: boolean;
}

const GAP = "  ";
/** What a column is cut down to when nothing else can give way. */
const LEAST_WIDTH = 6;
const COLOURS = { good: "green", busy: "yellow", bad: "red", dim: "dim" } as const;

/** Lays a table out as lines, titles first: columns two blanks apart, cut and left out until it fits the width. Texts are made printable. */
export function layOutTable(input: TableInput): string[] {
  const rows = input.rows.map((row) => row.map((cell) => ({ ...cell, text: printable(cell.text) })));
  const natural = input.columns.map((column, index) =>
    Math.max(textWidth(column.title), ...rows.map((row) => textWidth(row[index]?.text ?? ""))),
  );
  const widths = fitWidths({ columns: input.columns, natural, width: input.width });
  const kept = input.columns.map((_, index) => index).filter((index) => widths[index] !== undefined);
  const line = (cells: readonly Cell[]): string =>
    kept
      .map((index, place) => {
        const cell = cells[index] ?? { text: "" };
        const isLast = place === kept.length - 1;
        return drawCell(cell, {
          column: input.columns[index],
          width: widths[index] ?? 0,
          isLast,
          colour: input.colour,
        });
      })
      .join(GAP)
      .trimEnd();
  const titles = input.columns.map(({ title }): Cell => ({ text: title, tone: "dim" }));
  return [titles, ...rows].map(line);
}

/** Undefined for columns that are left out. */
function fitWidths(options: {
  readonly columns: readonly Column[];
  readonly natural: readonly number[];
  readonly width: number | undefined;
}): (number | undefined)[] {
  const { columns, width } = options;
  const widths: (number | undefined)[] = [...options.natural];
  if (width === undefined) return widths;
  const total = (): number => {
    const shown = widths.filter((entry) => entry !== undefined);
    return shown.reduce((sum, entry) => sum + entry, 0) + GAP.length * Math.max(0, shown.length - 1);
  };
  const shrinkable = inOrder(columns.map(({ shrink }) => shrink?.order));
  const shrink = (floor?: number): void => {
    for (const index of shrinkable) {
      const current = widths[index];
      const excess = total() - width;
      const least = floor ?? columns[index]?.shrink?.to;
      if (excess <= 0 || least === undefined || current === undefined) continue;
      widths[index] = Math.min(current, Math.max(least, current - excess));
    }
  };
  const droppable = inOrder(columns.map(({ dropOrder }) => dropOrder));
  for (;;) {
    for (const [index, entry] of widths.entries()) if (entry !== undefined) widths[index] = options.natural[index];
    shrink();
    if (total() <= width) return widths;
    const next = droppable.shift();
    if (next === undefined) {
      shrink(LEAST_WIDTH);
      return widths;
    }
    widths[next] = undefined;
  }
}

/** Indexes of those that have an order, in that order. */
function inOrder(orders: readonly (number | undefined)[]): number[] {
  return orders
    .map((_, index) => index)
    .filter((index) => orders[index] !== undefined)
    .sort((left, right) => (orders[left] ?? 0) - (orders[right] ?? 0));
}

function drawCell(
  cell: Cell,
  place: {
    readonly column: Column | undefined;
    readonly width: number;
    readonly isLast: boolean;
    readonly colour: boolean;
  },
): string {
  const { column, width, isLast, colour } = place;
  const text = cutText(cell.text, width);
  const padding = " ".repeat(Math.max(0, width - textWidth(text)));
  const coloured = paint(text, cell.tone, colour);
  if (column?.align === "right") return `${padding}${coloured}`;
  return isLast ? coloured : `${coloured}${padding}`;
}

/** The text in the colour of its tone. */
export function paint(text: string, tone: Tone | undefined, colour: boolean): string {
  if (!colour || tone === undefined || tone === "plain" || text === "") return text;
  return styleText(COLOURS[tone], text, { validateStream: false });
}
