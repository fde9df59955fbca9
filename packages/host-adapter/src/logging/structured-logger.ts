import type { Clock, FaultFields, LogFields, Logger } from "@nodelet/core";
import { formatJson } from "./json-format.ts";
import type { LogOutput } from "./log-output.ts";
import type { LogRecord } from "./log-record.ts";
import { formatText } from "./text-format.ts";

/** What a logger is made of. */
export interface StructuredLoggerOptions {
  readonly output: LogOutput;
  readonly clock: Pick<Clock, "nowMs">;
  /** `text` is klog's, `json` the kubelet's (--logging-format). */
  readonly format: "text" | "json";
  /** --v: records of `debug` up to this level are written. A function is asked each time, for a level that changes while running. */
  readonly verbosity: number | (() => number);
  /** Stands where upstream names the source file; a bound field `component` replaces it. */
  readonly component?: string;
  readonly pid?: number;
}

type Field = readonly [key: string, value: unknown];

/** Logger that writes one formatted line a record. */
export class StructuredLogger implements Logger {
  readonly #options: StructuredLoggerOptions;
  readonly #component: string;
  readonly #bound: readonly Field[];

  constructor(options: StructuredLoggerOptions, bound: readonly Field[] = []) {
    this.#options = options;
    this.#component = options.component ?? "nodelet";
    this.#bound = bound;
  }

  info(message: string, fields: LogFields = {}): void {
    this.#write({ severity: "info", level: 0, message, fields });
  }

  warn(message: string, fields: LogFields = {}): void {
    this.#write({ severity: "warning", level: 0, message, fields });
  }

  error(message: string, fields: FaultFields = {}): void {
    this.#write({ severity: "error", level: 0, message, fields });
  }

  debug(level: number, message: string, fields: LogFields = {}): void {
    if (this.enabled(level)) this.#write({ severity: "info", level, message, fields });
  }

  enabled(level: number): boolean {
    const { verbosity } = this.#options;
    return level <= (typeof verbosity === "number" ? verbosity : verbosity());
  }

  with(fields: LogFields): Logger {
    const { component, ...rest } = fields;
    const options = typeof component === "string" ? { ...this.#options, component } : this.#options;
    return new StructuredLogger(options, mergeFields(this.#bound, Object.entries(rest)));
  }

  #write(entry: Pick<LogRecord, "severity" | "level" | "message"> & { readonly fields: FaultFields }): void {
    const { err, ...fields } = entry.fields;
    const { output, clock, format, pid } = this.#options;
    try {
      const record: LogRecord = {
        severity: entry.severity,
        level: entry.level,
        message: entry.message,
        atMs: clock.nowMs(),
        pid: pid ?? process.pid,
        component: this.#component.replace(/[^\w./-]/g, "_"),
        fields: mergeFields(this.#bound, Object.entries(fields)),
        ...(err !== undefined && { err }),
      };
      output.write(format === "json" ? formatJson(record) : formatText(record));
    } catch {
      // A value whose getters or toString throw: losing its record is better than failing whoever logs.
      output.write(`${JSON.stringify(`a log record could not be formatted: ${entry.message}`)}\n`);
    }
  }
}

/** Later values of a key replace earlier ones in their place; absent values are left out. */
function mergeFields(earlier: readonly Field[], later: readonly Field[]): readonly Field[] {
  const merged = new Map<string, unknown>(earlier);
  for (const [key, value] of later) if (value !== undefined) merged.set(key, value);
  return [...merged];
}
