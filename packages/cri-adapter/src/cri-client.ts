import type { Clock } from "@nodelet/core";
import { ImageService, RuntimeService } from "./gen/runtime/v1/api_pb.ts";
import { type CallEffects, createGrpcClient, type GrpcClient } from "./grpc/client.ts";
import type { Connection } from "./grpc/connection.ts";

/** Every procedure of CRI v1's RuntimeService, typed, in protobuf's own messages. */
export type CriRuntimeClient = GrpcClient<typeof RuntimeService>;
/** Every procedure of CRI v1's ImageService, typed, in protobuf's own messages. */
export type CriImageClient = GrpcClient<typeof ImageService>;

/** What a client is made of. */
export interface CriClientOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  /** Milliseconds for calls that name no timeout of their own. */
  readonly requestTimeoutMs: number;
}

const runtimeEffects: CallEffects<typeof RuntimeService> = {
  version: "reads",
  runPodSandbox: "changes",
  stopPodSandbox: "changes",
  removePodSandbox: "changes",
  podSandboxStatus: "reads",
  listPodSandbox: "reads",
  streamPodSandboxes: "reads",
  createContainer: "changes",
  startContainer: "changes",
  stopContainer: "changes",
  removeContainer: "changes",
  listContainers: "reads",
  streamContainers: "reads",
  containerStatus: "reads",
  updateContainerResources: "changes",
  reopenContainerLog: "changes",
  execSync: "changes",
  exec: "changes",
  attach: "changes",
  portForward: "changes",
  containerStats: "reads",
  listContainerStats: "reads",
  streamContainerStats: "reads",
  podSandboxStats: "reads",
  listPodSandboxStats: "reads",
  streamPodSandboxStats: "reads",
  updateRuntimeConfig: "changes",
  status: "reads",
  checkpointContainer: "changes",
  getContainerEvents: "reads",
  listMetricDescriptors: "reads",
  listPodSandboxMetrics: "reads",
  streamPodSandboxMetrics: "reads",
  runtimeConfig: "reads",
  updatePodSandboxResources: "changes",
};

const imageEffects: CallEffects<typeof ImageService> = {
  listImages: "reads",
  streamImages: "reads",
  imageStatus: "reads",
  pullImage: "changes",
  removeImage: "changes",
  imageFsInfo: "reads",
};

/** A client of the runtime's RuntimeService. */
export function createCriRuntimeClient(options: CriClientOptions): CriRuntimeClient {
  const { connection, clock, requestTimeoutMs } = options;
  return createGrpcClient({
    service: RuntimeService,
    effects: runtimeEffects,
    connection,
    clock,
    defaultTimeoutMs: requestTimeoutMs,
  });
}

/** A client of the runtime's ImageService. */
export function createCriImageClient(options: CriClientOptions): CriImageClient {
  const { connection, clock, requestTimeoutMs } = options;
  return createGrpcClient({
    service: ImageService,
    effects: imageEffects,
    connection,
    clock,
    defaultTimeoutMs: requestTimeoutMs,
  });
}
