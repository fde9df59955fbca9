import { create, createRegistry, type Message, type MessageShape, toJson } from "@bufbuild/protobuf";
import {
  file_runtime_v1_api,
  RemoveContainerRequestSchema,
  RemovePodSandboxRequestSchema,
  StartContainerRequestSchema,
  StopContainerRequestSchema,
  StopPodSandboxRequestSchema,
} from "../gen/runtime/v1/api_pb.ts";

/** The request of StopPodSandbox. */
export function stopPodSandboxRequest(request: {
  readonly sandboxId: string;
}): MessageShape<typeof StopPodSandboxRequestSchema> {
  return create(StopPodSandboxRequestSchema, { podSandboxId: request.sandboxId });
}

/** The request of RemovePodSandbox. */
export function removePodSandboxRequest(request: {
  readonly sandboxId: string;
}): MessageShape<typeof RemovePodSandboxRequestSchema> {
  return create(RemovePodSandboxRequestSchema, { podSandboxId: request.sandboxId });
}

/** The request of StartContainer. */
export function startContainerRequest(request: {
  readonly containerId: string;
}): MessageShape<typeof StartContainerRequestSchema> {
  return create(StartContainerRequestSchema, { containerId: request.containerId });
}

/** The request of StopContainer. The grace is sent in whole seconds, rounded up; less than none is none. */
export function stopContainerRequest(request: {
  readonly containerId: string;
  readonly timeoutSeconds: number;
}): MessageShape<typeof StopContainerRequestSchema> {
  return create(StopContainerRequestSchema, {
    containerId: request.containerId,
    timeout: BigInt(Math.max(0, Math.ceil(request.timeoutSeconds))),
  });
}

/** The request of RemoveContainer. */
export function removeContainerRequest(request: {
  readonly containerId: string;
}): MessageShape<typeof RemoveContainerRequestSchema> {
  return create(RemoveContainerRequestSchema, { containerId: request.containerId });
}

const registry = createRegistry(file_runtime_v1_api);

/**
 * A CRI message in protobuf's JSON form with the field names of the interface: int64 as strings, bytes as base64, enums by
 * name, proto3 defaults left out. For logs, recordings and tests; throws for a message that is not CRI's.
 */
export function messageToJson(message: Message): unknown {
  const schema = registry.getMessage(message.$typeName);
  if (schema === undefined) throw new TypeError(`${message.$typeName} is not a message of CRI v1`);
  return toJson(schema, message, { useProtoFieldName: true });
}
