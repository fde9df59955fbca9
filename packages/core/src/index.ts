/** The decisions of a Kubernetes node agent, and the ports they need; no I/O. Each folder's index lists what is public of it. */

export * from "./admission/index.ts";
export * from "./agent/index.ts";
export * from "./api/index.ts";
export * from "./config/index.ts";
export * from "./decisions/index.ts";
export * from "./errors/index.ts";
export * from "./pods/index.ts";
export * from "./ports/index.ts";
export * from "./runtime/index.ts";
export * from "./status/index.ts";
export * from "./text/index.ts";
