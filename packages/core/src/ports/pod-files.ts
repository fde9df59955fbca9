import type { CallOptions } from "./runtime-service.ts";

/**
 * The per-pod directories under `<root-dir>/pods/<uid>` and the container logs under podLogsDir (kubelet files.md layout). Implemented by
 * @nodelet/host-adapter; in memory by testkit. Implementations resolve paths without following links out of their roots, bound what they
 * read, and never descend into mount points when they remove.
 */
export interface PodFiles {
  /** Makes the pod's directory, its `volumes` and `plugins` (0750) and its log directory (0755). Idempotent. */
  ensurePod(request: PodFilesRef & CallOptions): Promise<void>;
  /** Makes the container's directory (0750) and its log directory (0755). Idempotent. */
  ensureContainer(request: PodFilesRef & { readonly containerName: string } & CallOptions): Promise<void>;
  /** Makes a fresh empty termination log (0666) for one attempt and answers its absolute host path. */
  createTerminationLog(
    request: { readonly podUid: string; readonly containerName: string } & CallOptions,
  ): Promise<string>;
  /** Writes `<pod dir>/etc-hosts` (0644) and answers its absolute host path. */
  writeEtcHosts(request: { readonly podUid: string; readonly content: string } & CallOptions): Promise<string>;
  /** UIDs of all pod directories on disk. */
  listPods(options?: CallOptions): Promise<readonly string[]>;
  /** Removes the pod's directory. Refuses (`conflict`) while something is mounted under it. Idempotent. */
  removePod(request: { readonly podUid: string } & CallOptions): Promise<void>;
  /** The last `maxBytes` of a termination log; empty when it does not exist. The path must lie in the pod's directory. */
  readTerminationLog(
    request: { readonly podUid: string; readonly hostPath: string; readonly maxBytes: number } & CallOptions,
  ): Promise<string>;
}

/** Names a pod for the file system: directories carry the UID, log directories all three. */
export interface PodFilesRef {
  readonly podUid: string;
  readonly podName: string;
  readonly podNamespace: string;
}

/** Container logs: `<podLogsDir>/<ns>_<name>_<uid>/<container>/<restartCount>.log` and the links in /var/log/containers. */
export interface ContainerLogs {
  /** Highest N of the `<N>.log` files of a container, rotated ones included; undefined when there are none. */
  highestAttempt(request: PodFilesRef & { readonly containerName: string } & CallOptions): Promise<number | undefined>;
  /** Makes the link in the container links directory when the log exists; replaces a stale one. */
  link(request: { readonly linkName: string; readonly logPath: string } & CallOptions): Promise<void>;
  /** Removes one link. Idempotent. */
  unlink(request: { readonly linkName: string } & CallOptions): Promise<void>;
  /** Removes links of the directory whose log is gone, unless `keep` says that the container (id at the end of the name) still lives. */
  removeDanglingLinks(request: { readonly keep: (containerId: string) => boolean } & CallOptions): Promise<number>;
  /** Pod log directories on disk, parsed from their names. */
  listPodLogs(options?: CallOptions): Promise<readonly PodFilesRef[]>;
  /** Removes a pod's log directory. Idempotent. */
  removePodLogs(request: PodFilesRef & CallOptions): Promise<void>;
  /** Removes the logs of one attempt of a container, rotated ones too. Idempotent. */
  removeAttemptLogs(
    request: PodFilesRef & { readonly containerName: string; readonly attempt: number } & CallOptions,
  ): Promise<void>;
  /** The text of the last `maxLines` records, at most `maxBytes`, of a log in CRI format; empty when it does not exist. */
  readTail(
    request: { readonly logPath: string; readonly maxLines: number; readonly maxBytes: number } & CallOptions,
  ): Promise<string>;
}
