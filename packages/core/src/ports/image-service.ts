import type { CallOptions } from "./runtime-service.ts";
import type { ImageSpec, SandboxConfig } from "./runtime-types.ts";

/** An image in the runtime's store. */
export interface Image {
  readonly id: string;
  readonly repoTags: readonly string[];
  readonly repoDigests: readonly string[];
  readonly sizeBytes: bigint;
  /** The user the image's process runs as: a uid, else a name, else neither (root). */
  readonly uid?: bigint;
  readonly username?: string;
  readonly pinned: boolean;
}

/** Credentials for one pull. Never logged. */
export interface ImageAuth {
  readonly username?: string;
  readonly password?: string;
  readonly auth?: string;
  readonly serverAddress?: string;
  readonly identityToken?: string;
  readonly registryToken?: string;
}

/** The runtime's image store. */
export interface ImageService {
  /** The image that a reference or id names, or undefined when it is not present. */
  imageStatus(request: { readonly image: ImageSpec } & CallOptions): Promise<Image | undefined>;
  /**
   * Pulls and answers the image's reference (id or digest) for createContainer. No deadline: the signal cancels it when no pod wants it
   * any more. `onProgress` is called about every 30 s with the time since the start.
   */
  pullImage(
    request: {
      readonly image: ImageSpec;
      readonly auth?: ImageAuth;
      readonly sandboxConfig: SandboxConfig;
      readonly onProgress?: (elapsedMs: number) => void;
    } & CallOptions,
  ): Promise<string>;
}
