import { stringifyJson } from "@nodelet/core";

/** One line to be, whatever its format. */
export interface LogRecord {
  readonly severity: "info" | "warning" | "error";
  /** klog verbosity; 0 for what is always shown. */
  readonly level: number;
  readonly atMs: number;
  readonly pid: number;
  /** Part of the program that speaks: stands where upstream names a source file. */
  readonly component: string;
  readonly message: string;
  /** Bound ones first. `err` is not among them. */
  readonly fields: readonly (readonly [key: string, value: unknown])[];
  /** What was caught, when there is something. */
  readonly err?: unknown;
}

const MAX_TEXT_LENGTH = 16 * 1024;

/** Text as it may stand in a log: bounded, the rest counted. */
export function boundText(text: string): string {
  if (text.length <= MAX_TEXT_LENGTH) return text;
  return `${text.slice(0, MAX_TEXT_LENGTH)}... (${text.length - MAX_TEXT_LENGTH} more characters)`;
}

/** The text of what was caught: message and those of its causes that say something new. */
export function errorText(err: unknown): string {
  const texts: string[] = [];
  let current: unknown = err;
  for (let depth = 0; depth < 5 && current !== undefined && current !== null; depth += 1) {
    const text = current instanceof Error ? current.message || current.name : textOf(current);
    if (!texts.some((earlier) => earlier.includes(text))) texts.push(text);
    current = current instanceof Error ? current.cause : undefined;
  }
  return boundText(texts.join(": "));
}

function textOf(value: unknown): string {
  const plain = plainValue(value);
  return typeof plain === "string" ? plain : stringifyJson(plain);
}

/** A field's value as plain JSON data: errors become their text, what JSON lacks becomes text, depth and size are bounded. */
export function plainValue(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return boundText(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "bigint" || typeof value === "boolean" || value === null) return value;
  if (value instanceof Error) return errorText(value);
  if (typeof value !== "object") return typeof value;
  if (depth >= 6) return "...";
  if (Array.isArray(value)) return value.slice(0, 200).map((entry) => plainValue(entry, depth + 1));
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined);
  return Object.fromEntries(entries.slice(0, 200).map(([key, entry]) => [key, plainValue(entry, depth + 1)]));
}
