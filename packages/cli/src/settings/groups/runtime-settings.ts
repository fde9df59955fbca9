import { notEmpty, notNegative } from "../checks.ts";
import { setting } from "../setting.ts";
import * as kinds from "../value-kind.ts";

/** The container runtime. */
export const runtimeSettings = {
  containerRuntimeEndpoint: setting({
    flag: "container-runtime-endpoint",
    field: "containerRuntimeEndpoint",
    kind: kinds.text,
    group: "Container runtime",
    default: "unix:///run/containerd/containerd.sock",
    deprecated: true,
    check: notEmpty,
    about: "The runtime's CRI socket.",
  }),
  imageServiceEndpoint: setting({
    flag: "image-service-endpoint",
    field: "imageServiceEndpoint",
    kind: kinds.text,
    group: "Container runtime",
    default: "",
    deprecated: true,
    about: "The socket for images, when it is another one.",
  }),
  runtimeRequestTimeout: setting({
    flag: "runtime-request-timeout",
    field: "runtimeRequestTimeout",
    kind: kinds.duration,
    group: "Container runtime",
    default: 120_000,
    deprecated: true,
    about: "How long a call of the runtime may take, but for pulls, logs, exec and attach.",
  }),
};

/** Pulling images. */
export const imageSettings = {
  serializeImagePulls: setting({
    flag: "serialize-image-pulls",
    field: "serializeImagePulls",
    kind: kinds.bool,
    group: "Images",
    default: true,
    deprecated: true,
    about: "Pull one image at a time.",
  }),
  maxParallelImagePulls: setting({
    field: "maxParallelImagePulls",
    kind: kinds.int32,
    group: "Images",
    default: 0,
    check: notNegative,
    about: "How many images are pulled at a time when they are not pulled one by one; 0 for any number.",
  }),
  registryPullQps: setting({
    flag: "registry-qps",
    field: "registryPullQPS",
    kind: kinds.int32,
    group: "Images",
    default: 5,
    deprecated: true,
    check: notNegative,
    about: "How many pulls may begin a second; 0 for no limit.",
  }),
  registryBurst: setting({
    flag: "registry-burst",
    field: "registryBurst",
    kind: kinds.int32,
    group: "Images",
    default: 10,
    deprecated: true,
    check: notNegative,
    about: "How many pulls may begin at once within --registry-qps.",
  }),
};

/** Dead containers. */
export const garbageSettings = {
  minimumContainerTtl: setting({
    flag: "minimum-container-ttl-duration",
    kind: kinds.duration,
    group: "Garbage",
    default: 0,
    deprecated: true,
    about: "How long a dead container is kept at least.",
  }),
  maximumDeadContainersPerContainer: setting({
    flag: "maximum-dead-containers-per-container",
    kind: kinds.int32,
    group: "Garbage",
    default: 1,
    deprecated: true,
    about: "How many dead instances of one container are kept.",
  }),
  maximumDeadContainers: setting({
    flag: "maximum-dead-containers",
    kind: kinds.int32,
    group: "Garbage",
    default: -1,
    deprecated: true,
    about: "How many dead containers are kept in all; negative for no limit.",
  }),
};
