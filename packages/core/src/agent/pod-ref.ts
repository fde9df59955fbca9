import type { Pod } from "../api/index.ts";
import type { PodRef } from "../decisions/decision.ts";
import type { PodFilesRef } from "../ports/pod-files.ts";

/** What names a pod everywhere: UID, name and namespace. */
export function podRef(pod: Pod): PodRef {
  const { uid = "", name = "", namespace = "" } = pod.metadata ?? {};
  return { uid, name, namespace };
}

/** The same for the file system ports. */
export function podFilesRef(ref: PodRef): PodFilesRef {
  return { podUid: ref.uid, podName: ref.name, podNamespace: ref.namespace };
}
