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
export {
  mergePodSet,
  type PodChange,
  type PodChangeKind,
  type PodChangesListener,
  PodConfig,
  type PodConfigState,
  type PodMerge,
} from "./pod-config.ts";
export { parseRfc3339, rfc3339, rfc3339Nano } from "./timestamp.ts";
