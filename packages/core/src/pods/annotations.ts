import type { Pod } from "../api/index.ts";

/** Annotation: where the pod came from (`file`, `http`, `api`). Stamped when sources are merged. */
export const CONFIG_SOURCE = "kubernetes.io/config.source";
/** Annotation: when this agent first saw the pod, RFC 3339 with fraction. Kept over updates. */
export const CONFIG_SEEN = "kubernetes.io/config.seen";
/** Annotation of a static pod: its UID, which is a hash of what the file said. */
export const CONFIG_HASH = "kubernetes.io/config.hash";
/** Annotation of a mirror pod: the config.hash of the static pod that it shows. */
export const CONFIG_MIRROR = "kubernetes.io/config.mirror";

/** Annotations that the agent itself sets: they never make two versions of a pod differ. */
export const LOCAL_ANNOTATIONS: readonly string[] = [CONFIG_SOURCE, CONFIG_MIRROR, CONFIG_SEEN];

/** One annotation; keys such as `__proto__` are plain data. */
export function annotationOf(pod: Pod, key: string): string | undefined {
  const annotations = pod.metadata?.annotations;
  return annotations !== undefined && Object.hasOwn(annotations, key) ? annotations[key] : undefined;
}

/** True for pods of a file or a URL: they run without an API server, and deleting their mirror does not stop them. */
export function isStaticPod(pod: Pod): boolean {
  const source = annotationOf(pod, CONFIG_SOURCE);
  return source !== undefined && source !== "api";
}

/** True for the API server's copy of a static pod. */
export function isMirrorPod(pod: Pod): boolean {
  return annotationOf(pod, CONFIG_MIRROR) !== undefined;
}

/** Full pod name `<name>_<namespace>`: at most one pod of that name runs on a node at a time; neither part can hold an underscore. */
export function podFullName(pod: Pod): string {
  return `${pod.metadata?.name ?? ""}_${pod.metadata?.namespace ?? ""}`;
}
