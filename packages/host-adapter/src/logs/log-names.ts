import type { PodFilesRef } from "@nodelet/core";

/** `<namespace>_<name>_<uid>`: the log directory of a pod. None of the three has an underscore. */
export function podLogDirectoryName(ref: PodFilesRef): string {
  return `${ref.podNamespace}_${ref.podName}_${ref.podUid}`;
}

/** The inverse of `podLogDirectoryName`; undefined for a name of another form. */
export function parsePodLogDirectoryName(name: string): PodFilesRef | undefined {
  const [podNamespace, podName, podUid, ...rest] = name.split("_");
  return podNamespace && podName && podUid && rest.length === 0 ? { podNamespace, podName, podUid } : undefined;
}

/**
 * The attempt of a container's log file: `<attempt>.log`, rotated `<attempt>.log.<YYYYMMDD-hhmmss>`, compressed with `.gz`, being written
 * with `.tmp`. Undefined for other names.
 */
export function attemptOfLogName(name: string): number | undefined {
  const digits = /^(\d{1,9})\.log(?:\..*)?$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The container id at the end of a link's name, `<pod>_<namespace>_<container>-<id>.log`. */
export function containerIdOfLinkName(name: string): string | undefined {
  return /-([^-]+)\.log$/.exec(name)?.[1];
}
