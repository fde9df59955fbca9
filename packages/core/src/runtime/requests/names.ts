import { type Container, type EphemeralContainer, type Pod, stringifyJson } from "../../api/index.ts";
import { fnv1a64 } from "../../text/fnv.ts";

/** Labels by which any kubelet finds what belongs to which pod. */
export const LABELS = {
  podName: "io.kubernetes.pod.name",
  podNamespace: "io.kubernetes.pod.namespace",
  podUid: "io.kubernetes.pod.uid",
  containerName: "io.kubernetes.container.name",
} as const;

/** Annotations of containers: what must be known of one whose pod is no longer known. */
export const ANNOTATIONS = {
  hash: "io.kubernetes.container.hash",
  restartCount: "io.kubernetes.container.restartCount",
  terminationMessagePath: "io.kubernetes.container.terminationMessagePath",
  terminationMessagePolicy: "io.kubernetes.container.terminationMessagePolicy",
  preStopHandler: "io.kubernetes.container.preStopHandler",
  ports: "io.kubernetes.container.ports",
  deletionGracePeriod: "io.kubernetes.pod.deletionGracePeriod",
  terminationGracePeriod: "io.kubernetes.pod.terminationGracePeriod",
} as const;

/** Longest file name of common Linux file systems, in bytes. */
const MAX_FILE_NAME = 255;
const LOG_SUFFIX = ".log";

/** Directory of a pod's logs: `<podLogsDir>/<ns>_<name>_<uid>`. */
export function podLogDirectory(podLogsDir: string, pod: Pod): string {
  const { name = "", namespace = "", uid = "" } = pod.metadata ?? {};
  return `${podLogsDir.replace(/\/+$/, "")}/${namespace}_${name}_${uid}`;
}

/** Log of one attempt, relative to the pod's log directory. */
export function containerLogPath(options: { readonly containerName: string; readonly restartCount: number }): string {
  return `${options.containerName}/${options.restartCount}.log`;
}

/**
 * Name of a container's link in /var/log/containers: `<pod>_<ns>_<container>-<id>.log`, cut before the suffix to 255 bytes.
 * Never cuts inside a character.
 */
export function logLinkName(options: {
  readonly podName: string;
  readonly podNamespace: string;
  readonly containerName: string;
  readonly containerId: string;
}): string {
  const base = `${options.podName}_${options.podNamespace}_${options.containerName}-${options.containerId}`;
  return cutToBytes(base, MAX_FILE_NAME - LOG_SUFFIX.length) + LOG_SUFFIX;
}

/**
 * Key of a container's crash back-off, `<pod UID>/<container>/<hash>`. Image and resources are part of the hash: changing them is a new
 * try, so it starts with a fresh back-off.
 */
export function crashBackOffKey(options: {
  readonly pod: Pod;
  readonly container: Container | EphemeralContainer;
}): string {
  const { name = "", namespace = "", uid = "" } = options.pod.metadata ?? {};
  const { container } = options;
  const resources = stringifyJson(sorted(container.resources ?? {}));
  const hash = fnv1a64([name, namespace, container.image ?? "", resources].join("\0"));
  return `${uid}/${container.name}/${hash.toString(16)}`;
}

function cutToBytes(text: string, maxBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return new TextDecoder().decode(bytes.subarray(0, end));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return members.map(([key, member]) => [key, sorted(member)]);
}
