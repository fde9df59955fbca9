import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Image, ImageAuth, ImageSpec, SandboxConfig } from "@nodelet/core";
import {
  type Image as ImageMessage,
  type ImageSpec as ImageSpecMessage,
  type ImageSpecSchema,
  type ImageStatusRequest,
  ImageStatusRequestSchema,
  type PullImageRequest,
  PullImageRequestSchema,
} from "../gen/runtime/v1/api_pb.ts";
import { encodeSandboxConfig } from "./sandbox.ts";

/** Names an image for the wire. */
export function encodeImageSpec(spec: ImageSpec): MessageInitShape<typeof ImageSpecSchema> {
  return {
    image: spec.image,
    annotations: spec.annotations,
    userSpecifiedImage: spec.userSpecifiedImage,
    runtimeHandler: spec.runtimeHandler,
    imageRef: spec.imageRef,
  };
}

/** The image that a container or a mount was made of; an absent one has an empty name. */
export function decodeImageSpec(message: ImageSpecMessage | undefined): ImageSpec {
  if (message === undefined) return { image: "" };
  return {
    image: message.image,
    annotations: message.annotations,
    userSpecifiedImage: message.userSpecifiedImage,
    runtimeHandler: message.runtimeHandler,
    imageRef: message.imageRef,
  };
}

/** An image in the store. */
export function decodeImage(message: ImageMessage): Image {
  return {
    id: message.id,
    repoTags: message.repoTags,
    repoDigests: message.repoDigests,
    sizeBytes: message.size,
    uid: message.uid?.value,
    username: message.username === "" ? undefined : message.username,
    pinned: message.pinned,
  };
}

/** The request of ImageStatus. */
export function imageStatusRequest(request: { readonly image: ImageSpec }): ImageStatusRequest {
  return create(ImageStatusRequestSchema, { image: encodeImageSpec(request.image) });
}

/** The request of PullImage. Holds the credentials: never log it. */
export function pullImageRequest(request: {
  readonly image: ImageSpec;
  readonly auth?: ImageAuth;
  readonly sandboxConfig: SandboxConfig;
}): PullImageRequest {
  const { auth } = request;
  return create(PullImageRequestSchema, {
    image: encodeImageSpec(request.image),
    auth: auth && {
      username: auth.username,
      password: auth.password,
      auth: auth.auth,
      serverAddress: auth.serverAddress,
      identityToken: auth.identityToken,
      registryToken: auth.registryToken,
    },
    sandboxConfig: encodeSandboxConfig(request.sandboxConfig),
  });
}
