/** Pure functions between core's nouns and the messages of CRI v1. Each encodes or decodes one noun and keeps nothing. */
export {
  type ContainerFilter,
  createContainerRequest,
  decodeContainer,
  decodeContainerEvent,
  decodeContainerStatus,
  encodeContainerConfig,
  encodeContainerFilter,
} from "./container.ts";
export { decodeImage, decodeImageSpec, encodeImageSpec, imageStatusRequest, pullImageRequest } from "./image.ts";
export {
  messageToJson,
  removeContainerRequest,
  removePodSandboxRequest,
  startContainerRequest,
  stopContainerRequest,
  stopPodSandboxRequest,
} from "./requests.ts";
export { decodeResources, encodeResources } from "./resources.ts";
export { decodeCgroupDriver, decodeStatus, decodeVersion } from "./runtime.ts";
export {
  decodeSandbox,
  decodeSandboxStatus,
  encodeSandboxConfig,
  encodeSandboxFilter,
  runPodSandboxRequest,
  type SandboxFilter,
} from "./sandbox.ts";
