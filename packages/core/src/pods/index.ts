/** Where desired pods come from: manifests, static pods, sources, and how sources are merged. */
export {
  annotationOf,
  CONFIG_HASH,
  CONFIG_MIRROR,
  CONFIG_SEEN,
  CONFIG_SOURCE,
  isMirrorPod,
  isStaticPod,
  podFullName,
} from "./annotations.ts";
export { defaultPod } from "./defaults.ts";
export {
  type DecodedManifest,
  type DecodedObject,
  type DecodeObjectInput,
  decodeManifest,
  decodeObject,
  MAX_MANIFEST_BYTES,
} from "./manifest/index.ts";
export {
  mergePodSet,
  type PodChange,
  type PodChangeKind,
  type PodChangesListener,
  PodConfig,
  type PodConfigState,
  type PodMerge,
} from "./pod-config.ts";
export {
  type DeletePodOptions,
  type PodName,
  ProgrammaticPodSource,
  type ProgrammaticPodSourceOptions,
  type ResizePodOptions,
} from "./programmatic-pod-source.ts";
export {
  DirectoryPodSource,
  type DirectoryPodSourceOptions,
  UrlPodSource,
  type UrlPodSourceOptions,
} from "./sources/index.ts";
export {
  applyStaticRules,
  decodeStaticPods,
  type StaticPodInput,
  type StaticPodOrigin,
  type StaticPods,
} from "./static-pods.ts";
export { parseRfc3339, rfc3339, rfc3339Nano } from "./timestamp.ts";
export {
  type FieldProblem,
  formatProblem,
  type ProblemKind,
  validatePod,
  validatePodUpdate,
} from "./validation/index.ts";
