import { stringifyJson } from "@nodelet/core";
import { boundText, errorText, type LogRecord, plainValue } from "./log-record.ts";

/**
 * A record as the kubelet's JSON logging format writes it, newline included: `ts` in milliseconds since the epoch, `caller`, `msg`, `v` (absent
 * on errors), the fields, and `err` last.
 */
export function formatJson(record: LogRecord): string {
  const line: [string, unknown][] = [
    ["ts", record.atMs],
    ["caller", `${record.component}:0`],
    ["msg", boundText(record.message)],
  ];
  if (record.severity !== "error") line.push(["v", record.level]);
  const reserved = new Set(["ts", "caller", "msg", "v", "err"]);
  for (const [key, value] of record.fields) line.push([reserved.has(key) ? `${key}_` : key, plainValue(value)]);
  if (record.err !== undefined) line.push(["err", errorText(record.err)]);
  return `${stringifyJson(Object.fromEntries(line))}\n`;
}
