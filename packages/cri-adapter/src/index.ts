/** RuntimeService and ImageService of @nodelet/core over the Container Runtime Interface (CRI v1). */
export { type CriAdapter, type CriAdapterOptions, createCriAdapter } from "./cri-adapter.ts";
export type { CriImageClient, CriRuntimeClient } from "./cri-client.ts";
export { type CriEndpoint, parseEndpoint } from "./endpoint.ts";
export type { GrpcCallOptions, GrpcClient } from "./grpc/client.ts";
export { type GrpcCodeName, GrpcStatusError } from "./grpc/status.ts";
