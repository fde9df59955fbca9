import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import type { CriClientOptions } from "../cri-client.ts";
import {
  type ContainerEventResponse,
  ContainerEventResponseSchema,
  GetEventsRequestSchema,
  ListContainersRequestSchema,
  ListPodSandboxRequestSchema,
  RuntimeService,
} from "../gen/runtime/v1/api_pb.ts";
import { createOwnStream, createOwnUnary, type GrpcCallOptions } from "../grpc/client.ts";
import { trimContainerEvent } from "./trim-event.ts";

/** The calls that an agent makes all day, whose answers are not decoded as a whole. */
export interface LeanClient {
  /** The encoded ListPodSandboxResponse. */
  listPodSandbox(
    request: MessageInitShape<typeof ListPodSandboxRequestSchema>,
    options: GrpcCallOptions,
  ): Promise<Buffer>;
  /** The encoded ListContainersResponse. */
  listContainers(
    request: MessageInitShape<typeof ListContainersRequestSchema>,
    options: GrpcCallOptions,
  ): Promise<Buffer>;
  /** Events without the statuses in them. */
  getContainerEvents(options: GrpcCallOptions): AsyncIterable<ContainerEventResponse>;
}

/** Makes the client on a connection that others share. */
export function createLeanClient(options: CriClientOptions): LeanClient {
  const { connection, clock, requestTimeoutMs } = options;
  const shared = { effect: "reads", connection, clock, defaultTimeoutMs: requestTimeoutMs } as const;
  const { listPodSandbox, listContainers, getContainerEvents } = RuntimeService.method;
  const read = (bytes: Buffer): Buffer => bytes;
  const events = createOwnStream({
    ...shared,
    method: getContainerEvents,
    input: GetEventsRequestSchema,
    read: (bytes) => fromBinary(ContainerEventResponseSchema, trimContainerEvent(bytes)),
  });
  return {
    listPodSandbox: createOwnUnary({ ...shared, method: listPodSandbox, input: ListPodSandboxRequestSchema, read }),
    listContainers: createOwnUnary({ ...shared, method: listContainers, input: ListContainersRequestSchema, read }),
    getContainerEvents: (callOptions) => events({}, callOptions),
  };
}
