/**
 * The closed list of error kinds. Adapters translate errno, gRPC and HTTP into these at their edge; core decides by kind alone.
 *
 * - `notFound`, `alreadyExists`, `conflict`, `gone`: about the object that the call named.
 * - `unavailable`: the other side could not be reached or is not ready; nothing was done. Retryable.
 * - `deadline`: the call ran out of time and is known to have changed nothing. Retryable.
 * - `unknownOutcome`: the call ran out of time or the connection broke, and the other side may have acted: look before trying again.
 * - `cancelled`: our own AbortSignal ended the call.
 * - `invalid`: the input can never work. `unsupported`: the other side lacks the ability.
 * - `resourceExhausted`: a limit was hit (message size, quota, disk). Retryable.
 * - `permission`: refused. `internal`: a fault that fits nothing else. Retryable, since runtimes answer most passing failures so.
 */
export type ErrorKind =
  | "notFound"
  | "alreadyExists"
  | "conflict"
  | "gone"
  | "unavailable"
  | "deadline"
  | "cancelled"
  | "unknownOutcome"
  | "invalid"
  | "unsupported"
  | "resourceExhausted"
  | "permission"
  | "internal";

const RETRYABLE: Readonly<Record<ErrorKind, boolean>> = {
  notFound: false,
  alreadyExists: false,
  conflict: true,
  gone: false,
  unavailable: true,
  deadline: true,
  cancelled: false,
  unknownOutcome: true,
  invalid: false,
  unsupported: false,
  resourceExhausted: true,
  permission: false,
  internal: true,
};

const BRAND = Symbol.for("nodelet.io/error");

/** What an error may carry beside its message. */
export interface NodeletErrorOptions {
  /** The error underneath, kept for logs. */
  readonly cause?: unknown;
  /**
   * The stable reason that a status or event shows, when the place that threw already knows it
   * (`ErrImagePull`, `CreateContainerConfigError`, ...).
   */
  readonly reason?: string;
}

/**
 * The one error class of nodelet. `message` is the bare text that people may see in a status; `kind` is what code branches on.
 * Recognised by a global brand, so that two copies of the package in one process understand each other.
 */
export class NodeletError extends Error {
  readonly kind: ErrorKind;
  readonly reason: string | undefined;
  readonly [BRAND] = true;

  constructor(kind: ErrorKind, message: string, options: NodeletErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "NodeletError";
    this.kind = kind;
    this.reason = options.reason;
  }

  /** True when trying the same call again may succeed without any change of input. */
  get retryable(): boolean {
    return RETRYABLE[this.kind];
  }

  /** True for a NodeletError of this or of another copy of the package. */
  static is(value: unknown): value is NodeletError {
    return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[BRAND] === true;
  }

  /** Wraps anything that was thrown; a NodeletError passes unchanged, an AbortError becomes `cancelled`, all else `internal`. */
  static from(value: unknown): NodeletError {
    if (NodeletError.is(value)) return value;
    if (value instanceof Error) {
      return new NodeletError(value.name === "AbortError" ? "cancelled" : "internal", value.message, { cause: value });
    }
    return new NodeletError("internal", String(value), { cause: value });
  }
}

/** True when `value` is a NodeletError of that kind. */
export function isErrorOfKind(value: unknown, kind: ErrorKind): value is NodeletError {
  return NodeletError.is(value) && value.kind === kind;
}

/** Throws a `cancelled` error when the signal has fired. */
export function throwIfAborted(signal: AbortSignal | undefined, what: string): void {
  if (signal?.aborted) throw new NodeletError("cancelled", `${what} was cancelled`, { cause: signal.reason });
}
