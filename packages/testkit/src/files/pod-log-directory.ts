import type { PodFilesRef } from "@nodelet/core";
import { requireSegment } from "./path-segment.ts";

/** `<podLogsDir>/<namespace>_<name>_<uid>`. `invalid` when a part cannot be in a file name. */
export function podLogDirectory(request: { readonly podLogsDir: string; readonly pod: PodFilesRef }): string {
  const { podNamespace, podName, podUid } = request.pod;
  const name = [podNamespace, podName, podUid].join("_");
  for (const value of [podNamespace, podName, podUid, name])
    requireSegment({ value, what: "part of a pod's log directory" });
  return `${request.podLogsDir}/${name}`;
}

/** The pod that a log directory's name tells of; undefined for a name of another form. */
export function parsePodLogDirectory(name: string): PodFilesRef | undefined {
  const [podNamespace, podName, podUid, ...more] = name.split("_");
  if (!podNamespace || !podName || !podUid || more.length > 0) return undefined;
  return { podNamespace, podName, podUid };
}
