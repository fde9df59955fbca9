import { stringifyJson } from "@nodelet/core";
import { goQuote } from "./go-quote.ts";
import { boundText, errorText, type LogRecord, plainValue } from "./log-record.ts";

const LETTERS = { info: "I", warning: "W", error: "E" } as const;

/**
 * A record in klog's structured text form, local time, newline included:
 *
 *     I1130 20:45:01.123456    1234 pod-worker:0] "Started container" pod="default/web" attempt=1
 *
 * Upstream names file and line before the bracket. Finding those costs a stack trace a line, so the component stands there, and line 0.
 */
export function formatText(record: LogRecord): string {
  const parts = [`${header(record)}] ${goQuote(boundText(record.message))}`];
  if (record.err !== undefined) parts.push(`err${formatString(errorText(record.err))}`);
  for (const [key, value] of record.fields) parts.push(`${plainKey(key)}${formatValue(value)}`);
  return `${parts.join(" ")}\n`;
}

function header(record: LogRecord): string {
  const time = new Date(record.atMs);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${two(time.getMonth() + 1)}${two(time.getDate())}`;
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
  const microseconds = Math.floor((((record.atMs % 1000) + 1000) % 1000) * 1000);
  const pid = String(record.pid).padStart(7);
  return `${LETTERS[record.severity]}${day} ${clock}.${String(microseconds).padStart(6, "0")} ${pid} ${record.component}:0`;
}

function formatValue(value: unknown): string {
  const plain = plainValue(value);
  return typeof plain === "string" ? formatString(plain) : `=${stringifyJson(plain)}`;
}

/** One line is quoted. Several stand as they are, indented, between `<` and ` >`. */
function formatString(text: string): string {
  if (!text.includes("\n")) return `=${goQuote(text)}`;
  const lines = text.replace(/\n$/, "").split("\n");
  return `=<\n${lines.map((line) => `\t${line.replace(/[^\P{C}\t]/gu, "\ufffd")}\n`).join("")} >`;
}

/** Keys are ours, but a field may carry an object's own: nothing in it may end the line or look like another field. */
function plainKey(key: string): string {
  return key.replace(/[^\w.:/-]/g, "_").slice(0, 100);
}
