import type { Clock, ImageService, Logger, RuntimeService } from "@nodelet/core";
import {
  type CriImageClient,
  type CriRuntimeClient,
  createCriImageClient,
  createCriRuntimeClient,
} from "./cri-client.ts";
import { parseEndpoint } from "./endpoint.ts";
import { Connection } from "./grpc/connection.ts";
import { CriImageService } from "./image-service.ts";
import { createLeanClient } from "./lists/lean-client.ts";
import { CriRuntimeService } from "./runtime-service.ts";

/** How to reach a runtime. */
export interface CriAdapterOptions {
  /** `unix:///absolute/path` of the runtime's socket. */
  readonly runtimeEndpoint: string;
  /** The same for images; the runtime's own when absent or empty. */
  readonly imageEndpoint?: string;
  readonly clock: Clock;
  /** Told of a deprecated form of endpoint. */
  readonly logger?: Logger;
  /** Deadline of one call in milliseconds (runtimeRequestTimeout); 2 minutes by default. */
  readonly requestTimeoutMs?: number;
  /** Milliseconds between two reports of a running pull; 30 seconds by default. */
  readonly pullProgressIntervalMs?: number;
}

/** A container runtime behind CRI v1. */
export interface CriAdapter {
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  /** Every procedure of the two services in protobuf's messages, for what the ports do not carry. */
  readonly runtimeClient: CriRuntimeClient;
  readonly imageClient: CriImageClient;
  /** Ends the connections; calls in flight fail. Idempotent. */
  close(): void;
}

/**
 * Makes the adapter. Nothing is connected or loaded before the first call, and a runtime that is away is reached when it is
 * back. Throws `invalid` for an endpoint that is not a unix socket.
 */
export function createCriAdapter(options: CriAdapterOptions): CriAdapter {
  const { clock, logger, requestTimeoutMs = 120_000, pullProgressIntervalMs = 30_000 } = options;
  const runtimeEndpoint = parseEndpoint(options.runtimeEndpoint);
  const imageEndpoint = parseEndpoint(options.imageEndpoint || options.runtimeEndpoint);
  for (const endpoint of new Map([runtimeEndpoint, imageEndpoint].map((each) => [each.url, each])).values()) {
    if (endpoint.deprecatedForm) {
      logger?.warn("A bare path as runtime endpoint is deprecated; use the full form", { endpoint: endpoint.url });
    }
  }
  const connection = new Connection(runtimeEndpoint);
  const imageConnection = imageEndpoint.url === runtimeEndpoint.url ? connection : new Connection(imageEndpoint);
  const runtimeClient = createCriRuntimeClient({ connection, clock, requestTimeoutMs });
  const lean = createLeanClient({ connection, clock, requestTimeoutMs });
  const imageClient = createCriImageClient({ connection: imageConnection, clock, requestTimeoutMs });
  return {
    runtime: new CriRuntimeService({ client: runtimeClient, lean, connection, clock, requestTimeoutMs }),
    images: new CriImageService({ client: imageClient, clock, progressIntervalMs: pullProgressIntervalMs }),
    runtimeClient,
    imageClient,
    close: () => {
      connection.close();
      imageConnection.close();
    },
  };
}
