import type { Pod, PodStatus } from "../api/index.ts";
import type { CallOptions } from "./runtime-service.ts";

/** What became of one status write. */
export type StatusOutcome =
  | { readonly kind: "accepted" }
  | { readonly kind: "gone" }
  | { readonly kind: "conflict" }
  | { readonly kind: "forbidden"; readonly message: string }
  | { readonly kind: "retryAfter"; readonly delayMs: number; readonly message: string };

/**
 * Where pod statuses go: the API server in a cluster, the control socket's view and embedders standalone. Core calls it with one status a pod
 * at a time, only when something changed, and again after `retryAfter` or `conflict`. Throws NodeletError `unknownOutcome` or `unavailable`.
 */
export interface PodStatusSink {
  /** Writes the whole status of `pod` (identified by UID). Idempotent. */
  writeStatus(request: { readonly pod: Pod; readonly status: PodStatus } & CallOptions): Promise<StatusOutcome>;
  /** The pod is finished and everything of it is gone from the node: the object may be deleted. Idempotent. */
  podFinished(request: { readonly pod: Pod } & CallOptions): Promise<StatusOutcome>;
}
