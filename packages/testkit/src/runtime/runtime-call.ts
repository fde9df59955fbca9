import type { ErrorKind } from "@nodelet/core";

/** Calls of RuntimeService and ImageService that reach the in-memory daemon, by their method names. */
export type RuntimeCall =
  | "capabilities"
  | "version"
  | "status"
  | "runSandbox"
  | "stopSandbox"
  | "removeSandbox"
  | "sandboxStatus"
  | "listSandboxes"
  | "createContainer"
  | "startContainer"
  | "stopContainer"
  | "removeContainer"
  | "containerStatus"
  | "listContainers"
  | "imageStatus"
  | "pullImage";

/** One call that changes something, as the client made it. */
export interface RecordedCall {
  readonly call: string;
  /** The request as given, without its signal and callbacks. */
  readonly request: Readonly<Record<string, unknown>>;
  /** Wall time of the call, milliseconds since the epoch. */
  readonly atMs: number;
  /** What the client saw. */
  outcome: "pending" | "ok" | ErrorKind;
  /** What it answered, for example the id of the new sandbox. */
  answer?: unknown;
}
