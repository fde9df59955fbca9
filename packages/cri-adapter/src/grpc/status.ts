import { type ErrorKind, NodeletError } from "@nodelet/core";

/** gRPC status codes by number, named as Go names them in its messages. */
const CODE_NAMES = [
  "OK",
  "Canceled",
  "Unknown",
  "InvalidArgument",
  "DeadlineExceeded",
  "NotFound",
  "AlreadyExists",
  "PermissionDenied",
  "ResourceExhausted",
  "FailedPrecondition",
  "Aborted",
  "OutOfRange",
  "Unimplemented",
  "Internal",
  "Unavailable",
  "DataLoss",
  "Unauthenticated",
] as const;

/** Name of a gRPC status code. */
export type GrpcCodeName = (typeof CODE_NAMES)[number];

/**
 * What the other side answered, kept as the `cause` of the NodeletError that stands for it. Its message has the form in which
 * upstream shows a call's error as a whole: `rpc error: code = Unknown desc = …`.
 */
export class GrpcStatusError extends Error {
  readonly code: GrpcCodeName;
  /** The bare text. */
  readonly details: string;

  constructor(code: GrpcCodeName, details: string) {
    super(`rpc error: code = ${code} desc = ${details}`);
    this.name = "GrpcStatusError";
    this.code = code;
    this.details = details;
  }
}

/** Whether a call only looks or may change something: decides what a lost answer means. */
export type CallEffect = "reads" | "changes";

/** Whose call failed, for messages and for the meaning of a lost answer. */
export interface CallContext {
  /** Name of the remote procedure, for example `RunPodSandbox`. */
  readonly method: string;
  readonly effect: CallEffect;
  /** URL of the endpoint. */
  readonly endpoint: string;
}

const ANSWERED: Readonly<Partial<Record<GrpcCodeName, ErrorKind>>> = {
  InvalidArgument: "invalid",
  NotFound: "notFound",
  AlreadyExists: "alreadyExists",
  PermissionDenied: "permission",
  ResourceExhausted: "resourceExhausted",
  FailedPrecondition: "conflict",
  Aborted: "conflict",
  OutOfRange: "invalid",
  Unimplemented: "unsupported",
  Unavailable: "unavailable",
  Unauthenticated: "permission",
};

/** Texts of grpc-js for a call that never left. */
const NOT_SENT = /^No connection established|^Channel closed|^Channel has been shut down|^Stream refused by server/;
/** Texts of grpc-js for a call that left and got no answer. */
const NO_ANSWER =
  /^Connection dropped|ECONNRESET|ETIMEDOUT|EPIPE|^Write (?:error|failed)|^Received RST_STREAM|^Received HTTP status code|^Call cancelled|^(?:Not enough|Too many|No message) .*received|^Failed to start HTTP\/2 stream|^The pending stream has been canceled/i;

/**
 * How runtimes say that a sandbox or container of that name exists; the code differs (containerd 1.6 Unknown, 2.1
 * FailedPrecondition, CRI-O Unknown), the text does not.
 */
const NAME_TAKEN = /\bname "[^"]*" is reserved for "|\bname is reserved\b/;

/**
 * Translates a failed call. An answer of the runtime keeps its bare text as the message. A lost answer is `unavailable` for
 * a call that reads and `unknownOutcome` for one that changes; so is a deadline (`deadline` for reads), also one that the
 * runtime itself reports. A call that never left is `unavailable`: nothing was done.
 */
export function toNodeletError(failure: { code: number; details: string }, context: CallContext): NodeletError {
  const code = CODE_NAMES[failure.code] ?? "Unknown";
  const { details } = failure;
  const cause = new GrpcStatusError(code, details);
  const changes = context.effect === "changes";
  if (code === "Unavailable" && NOT_SENT.test(details)) {
    return new NodeletError("unavailable", connectionProblem(details, context.endpoint), { cause });
  }
  if (code !== "ResourceExhausted" && NO_ANSWER.test(details)) {
    const lost = `the connection to the container runtime at ${context.endpoint} broke during ${context.method} (${details})`;
    return changes
      ? new NodeletError("unknownOutcome", `${lost}; whether it acted is not known`, { cause })
      : new NodeletError("unavailable", lost, { cause });
  }
  if (code === "DeadlineExceeded") {
    return new NodeletError(changes ? "unknownOutcome" : "deadline", details, { cause });
  }
  if (code === "Canceled") {
    // Not by us: our own cancellation never gets here.
    return new NodeletError(changes ? "unknownOutcome" : "unavailable", details, { cause });
  }
  if (NAME_TAKEN.test(details)) {
    return new NodeletError("alreadyExists", details, { cause });
  }
  return new NodeletError(ANSWERED[code] ?? "internal", details, { cause });
}

/** Our own deadline passed. */
export function deadlineError(context: CallContext & { timeoutMs: number }): NodeletError {
  const text = `the container runtime at ${context.endpoint} did not answer ${context.method} within ${context.timeoutMs / 1000}s`;
  const cause = new GrpcStatusError("DeadlineExceeded", "context deadline exceeded");
  return context.effect === "changes"
    ? new NodeletError("unknownOutcome", `${text}; whether it acted is not known`, { cause })
    : new NodeletError("deadline", text, { cause });
}

/** Our own signal fired. */
export function cancelledError(context: CallContext & { reason: unknown }): NodeletError {
  const cause = context.reason ?? new GrpcStatusError("Canceled", "context canceled");
  return new NodeletError("cancelled", `${context.method} was cancelled`, { cause });
}

/** Says why no connection comes about, from the error that the socket gave. */
function connectionProblem(details: string, endpoint: string): string {
  const runtime = `container runtime at ${endpoint}`;
  if (/ENOENT/.test(details)) {
    return `${runtime}: there is no such socket. Is the runtime running, and is this its endpoint?`;
  }
  if (/ECONNREFUSED/.test(details)) {
    return `${runtime}: nobody listens on the socket. The runtime is not running or still starting`;
  }
  if (/EACCES|EPERM/.test(details)) {
    return `${runtime}: no permission to connect. The agent needs root or access to the socket`;
  }
  if (/ENOTSOCK|ENOTDIR|EPROTOTYPE/.test(details)) {
    return `${runtime}: this path is not a stream socket`;
  }
  const reason = lastingDetails(details);
  if (/protocol error|ERR_HTTP2|NGHTTP2/i.test(details)) {
    return `${runtime}: what listens there does not speak gRPC, so it is not a CRI server (${reason})`;
  }
  return `${runtime}: cannot connect (${reason})`;
}

/** Without the instant that grpc-js adds: each try would read as another fault, and be told again. */
function lastingDetails(details: string): string {
  return details.replace(/ \(\d{4}-\d\d-\d\dT[\d:.]+Z\)/g, "").replace(/\.? *Resolution note: *$/, "");
}
