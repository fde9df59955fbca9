import type { FaultFields, LogFields, Logger } from "@nodelet/core";

/** One record that was logged. */
export interface LogRecord {
  readonly level: "info" | "warn" | "error" | "debug";
  /** klog verbosity of a debug record, 0 for the others. */
  readonly verbosity: number;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

const LIMIT = 10_000;

/** Keeps records up to a verbosity (4 when absent) in memory, the last 10,000 of them at least. Loggers made by `with` share them. */
export class MemoryLogger implements Logger {
  readonly #verbosity: number;
  readonly #store: LogRecord[];

  constructor(options: { readonly verbosity?: number } = {}) {
    this.#verbosity = options.verbosity ?? 4;
    this.#store = [];
  }

  get records(): readonly LogRecord[] {
    return this.#store;
  }

  info(message: string, fields?: LogFields): void {
    this.#log({ level: "info", verbosity: 0, message }, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#log({ level: "warn", verbosity: 0, message }, fields);
  }

  error(message: string, fields?: FaultFields): void {
    this.#log({ level: "error", verbosity: 0, message }, fields);
  }

  debug(level: number, message: string, fields?: LogFields): void {
    if (this.enabled(level)) this.#log({ level: "debug", verbosity: level, message }, fields);
  }

  enabled(level: number): boolean {
    return level <= this.#verbosity;
  }

  with(fields: LogFields): Logger {
    const log = (method: "info" | "warn") => (message: string, more?: LogFields) =>
      this[method](message, { ...fields, ...more });
    return {
      info: log("info"),
      warn: log("warn"),
      error: (message, more) => this.error(message, { ...fields, ...more }),
      debug: (level, message, more) => this.debug(level, message, { ...fields, ...more }),
      enabled: (level) => this.enabled(level),
      with: (more) => this.with({ ...fields, ...more }),
    };
  }

  #log(record: Omit<LogRecord, "fields">, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#store.push({ ...record, fields });
    if (this.#store.length > LIMIT * 2) this.#store.splice(0, LIMIT);
  }
}

/** A logger that writes nothing. */
export const silentLogger: Logger = {
  info() {},
  warn() {},
  error() {},
  debug() {},
  enabled: () => false,
  with: () => silentLogger,
};
