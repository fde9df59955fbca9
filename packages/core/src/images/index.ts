export { type EnsuredImage, type EnsureImageRequest, ImageManager } from "./image-manager.ts";
export type { PullConfig } from "./image-pulls.ts";
export { PULL_GOES_ON } from "./ongoing-pulls.ts";
export { defaultPullPolicy, type ImageReference, parseReference, withDefaultTag } from "./reference.ts";
