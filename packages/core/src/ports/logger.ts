/** Values that a log record may carry. Never secrets, tokens or values of environment variables. */
export type LogValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | readonly LogValue[]
  | { readonly [key: string]: LogValue };

/** Key-values of one record. */
export type LogFields = Readonly<Record<string, LogValue>>;

/** Key-values of a record about a fault: `err` is what was caught, of whatever type; the others are as in {@link LogFields}. */
export type FaultFields = Readonly<Record<string, unknown>> & { readonly err?: unknown };

/**
 * Structured logging. Pod or container identity is bound once with `with`. Must never throw and never block.
 * Verbosity follows klog: `debug` takes the level from which it is shown (2 steady state, 4 debug, 5 trace, 6+ requests).
 */
export interface Logger {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: FaultFields): void;
  debug(level: number, message: string, fields?: LogFields): void;
  /** True when records of that verbosity would be written: guards costly fields. */
  enabled(level: number): boolean;
  /** A logger that adds these fields to each record. */
  with(fields: LogFields): Logger;
}
