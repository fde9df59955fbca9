import { type Clock, type Image, type ImageService, NodeletError, type Timer } from "@nodelet/core";
import type { CriImageClient } from "./cri-client.ts";
import { decodeImage, imageStatusRequest, pullImageRequest } from "./mapping/image.ts";

/** What the service is made of. */
export interface CriImageServiceOptions {
  readonly client: CriImageClient;
  readonly clock: Clock;
  /** Milliseconds between two reports of a running pull. */
  readonly progressIntervalMs: number;
}

type RequestOf<K extends keyof ImageService> = Parameters<ImageService[K]>[0];

/** ImageService over CRI v1. Keeps nothing. */
export class CriImageService implements ImageService {
  readonly #client: CriImageClient;
  readonly #clock: Clock;
  readonly #progressIntervalMs: number;

  constructor(options: CriImageServiceOptions) {
    this.#client = options.client;
    this.#clock = options.clock;
    this.#progressIntervalMs = options.progressIntervalMs;
  }

  async imageStatus(request: RequestOf<"imageStatus">): Promise<Image | undefined> {
    const { image } = await this.#client.imageStatus(imageStatusRequest(request), { signal: request.signal });
    if (image === undefined) return undefined;
    if (image.id === "") {
      throw new NodeletError("internal", `the runtime's status of image ${request.image.image} lacks its id`);
    }
    return decodeImage(image);
  }

  async pullImage(request: RequestOf<"pullImage">): Promise<string> {
    const stop = this.#reportProgress(request.onProgress);
    try {
      const { imageRef } = await this.#client.pullImage(pullImageRequest(request), {
        signal: request.signal,
        timeoutMs: 0,
      });
      if (imageRef === "") {
        throw new NodeletError(
          "internal",
          `the runtime's answer to PullImage holds no reference for ${request.image.image}`,
        );
      }
      return imageRef;
    } finally {
      stop();
    }
  }

  #reportProgress(onProgress: ((elapsedMs: number) => void) | undefined): () => void {
    if (onProgress === undefined) return () => {};
    const startedMs = this.#clock.monotonicMs();
    let timer: Timer;
    const schedule = (): void => {
      timer = this.#clock.setTimer(this.#progressIntervalMs, () => {
        schedule();
        onProgress(this.#clock.monotonicMs() - startedMs);
      });
    };
    schedule();
    return () => timer.cancel();
  }
}
