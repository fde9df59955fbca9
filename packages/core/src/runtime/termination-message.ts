import type { ContainerLogs, PodFiles } from "../ports/pod-files.ts";
import type { CriContainerStatus } from "../ports/runtime-types.ts";

/** Limits of the kubelet: the file's last bytes, and the log's last lines and bytes for FallbackToLogsOnError. */
const FILE_BYTES = 4096;
const LOG_LINES = 80;
const LOG_BYTES = 2048;

/**
 * The termination message of an exited container: the file that it wrote at terminationMessagePath, or the end of its log when the policy
 * says so, it failed and the file is empty. Undefined when there is none; unreadable files count as empty.
 */
export async function readTerminationMessage(options: {
  readonly status: CriContainerStatus;
  readonly podUid: string;
  readonly ports: { readonly podFiles: PodFiles; readonly containerLogs: ContainerLogs };
  readonly signal?: AbortSignal;
}): Promise<string | undefined> {
  const { status, podUid, ports } = options;
  const call = options.signal === undefined ? {} : { signal: options.signal };
  const path = status.annotations["io.kubernetes.container.terminationMessagePath"];
  const policy = status.annotations["io.kubernetes.container.terminationMessagePolicy"];
  const hostPath =
    path === undefined ? undefined : status.mounts.find((mount) => mount.containerPath === path)?.hostPath;
  const text =
    hostPath === undefined
      ? ""
      : await ports.podFiles.readTerminationLog({ podUid, hostPath, maxBytes: FILE_BYTES, ...call }).catch(() => "");
  if (text !== "") return text;
  const failed = status.exitCode !== 0 || status.reason === "OOMKilled";
  if (policy !== "FallbackToLogsOnError" || !failed || status.reason === "ContainerCannotRun" || status.logPath === "")
    return undefined;
  const tail = await ports.containerLogs
    .readTail({ logPath: status.logPath, maxLines: LOG_LINES, maxBytes: LOG_BYTES, ...call })
    .catch(() => "");
  return tail === "" ? undefined : tail;
}
