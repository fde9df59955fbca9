import type { Image } from "@nodelet/core";

/** An image in an in-memory store: what the runtime tells of it, and what a container needs that runs it. */
export interface StoredImage extends Image {
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  /** Stop signal of the image's configuration; SIGTERM when absent. */
  readonly stopSignal?: string;
  /** Programs the image has, by the name they are called by; the usual ones when absent. */
  readonly executables?: readonly string[];
  /** Primary group by user id, as the image's /etc/passwd has it; 0 for other users. */
  readonly primaryGroups?: ReadonlyMap<bigint, bigint>;
}

/** What a test says of an image that is present or can be pulled. */
export interface ImageDefinition {
  /** Reference with tag or digest, for example `localhost/busybox:1.35`. */
  readonly reference: string;
  /** `sha256:` and 64 digits; made from the reference when absent. */
  readonly id?: string;
  readonly sizeBytes?: bigint;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly uid?: bigint;
  readonly username?: string;
  readonly pinned?: boolean;
  readonly stopSignal?: string;
  readonly executables?: readonly string[];
  /** Primary group by user id, as the image's /etc/passwd has it; 0 for other users. */
  readonly primaryGroups?: ReadonlyMap<bigint, bigint>;
  /** Whether the image has a digest reference, as a pulled one has and an imported one has not. True when pulled, false when added. */
  readonly withDigest?: boolean;
}
