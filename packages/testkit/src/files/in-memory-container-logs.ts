import { type CallOptions, type ContainerLogs, NodeletError, type PodFilesRef, throwIfAborted } from "@nodelet/core";
import { InMemoryHostFiles } from "./in-memory-host-files.ts";
import { lastBytes } from "./last-bytes.ts";
import { requireSegment } from "./path-segment.ts";
import { parsePodLogDirectory, podLogDirectory } from "./pod-log-directory.ts";

/** Where an InMemoryContainerLogs finds logs and keeps links. */
export interface InMemoryContainerLogsOptions {
  /** Shared with the runtime that writes the logs; one of its own when absent. */
  readonly files?: InMemoryHostFiles;
  /** `/var/log/pods` when absent. */
  readonly podLogsDir?: string;
  /** `/var/log/containers` when absent. */
  readonly linksDir?: string;
}

/** `7.log`, and its rotated ones `7.log.20260102-030405` and `7.log.20260102-030405.gz`. */
const LOG_NAME = /^(\d+)\.log(?:\.\d{8}-\d{6}(?:\.gz)?)?$/;

/** Container logs and their links in memory, under the kubelet's names. */
export class InMemoryContainerLogs implements ContainerLogs {
  readonly files: InMemoryHostFiles;
  readonly #podLogsDir: string;
  readonly #linksDir: string;

  constructor(options: InMemoryContainerLogsOptions = {}) {
    this.files = options.files ?? new InMemoryHostFiles();
    this.#podLogsDir = options.podLogsDir ?? "/var/log/pods";
    this.#linksDir = options.linksDir ?? "/var/log/containers";
  }

  async highestAttempt(
    request: PodFilesRef & { readonly containerName: string } & CallOptions,
  ): Promise<number | undefined> {
    throwIfAborted(request.signal, "highestAttempt");
    const attempts = this.files.list(this.#containerDir(request)).flatMap((name) => attemptOf(name) ?? []);
    return attempts.length === 0 ? undefined : Math.max(...attempts);
  }

  async link(request: { readonly linkName: string; readonly logPath: string } & CallOptions): Promise<void> {
    throwIfAborted(request.signal, "link");
    requireSegment({ value: request.linkName, what: "link name" });
    this.#requireLogPath(request.logPath);
    if (this.files.read(request.logPath) === undefined) return;
    const path = `${this.#linksDir}/${request.linkName}`;
    const present = this.files.get(path);
    if (present !== undefined && present.kind !== "link") {
      throw new NodeletError("conflict", `${path} exists and is not a link`);
    }
    this.files.link({ path, target: request.logPath });
  }

  async unlink(request: { readonly linkName: string } & CallOptions): Promise<void> {
    throwIfAborted(request.signal, "unlink");
    requireSegment({ value: request.linkName, what: "link name" });
    this.files.remove(`${this.#linksDir}/${request.linkName}`);
  }

  async removeDanglingLinks(
    request: { readonly keep: (containerId: string) => boolean } & CallOptions,
  ): Promise<number> {
    throwIfAborted(request.signal, "removeDanglingLinks");
    let removed = 0;
    for (const name of this.files.list(this.#linksDir)) {
      const path = `${this.#linksDir}/${name}`;
      const node = this.files.get(path);
      const containerId = /-([^-]+)\.log$/.exec(name)?.[1];
      // Links elsewhere and of other forms belong to somebody else.
      if (containerId === undefined || node?.kind !== "link" || !node.target.startsWith(`${this.#podLogsDir}/`))
        continue;
      if (this.files.exists(node.target) || request.keep(containerId)) continue;
      this.files.remove(path);
      removed += 1;
    }
    return removed;
  }

  async listPodLogs(options: CallOptions = {}): Promise<readonly PodFilesRef[]> {
    throwIfAborted(options.signal, "listPodLogs");
    return this.files.list(this.#podLogsDir).flatMap((name) => parsePodLogDirectory(name) ?? []);
  }

  async removePodLogs(request: PodFilesRef & CallOptions): Promise<void> {
    throwIfAborted(request.signal, "removePodLogs");
    this.files.remove(podLogDirectory({ podLogsDir: this.#podLogsDir, pod: request }));
  }

  async removeAttemptLogs(
    request: PodFilesRef & { readonly containerName: string; readonly attempt: number } & CallOptions,
  ): Promise<void> {
    throwIfAborted(request.signal, "removeAttemptLogs");
    const directory = this.#containerDir(request);
    for (const name of this.files.list(directory)) {
      if (attemptOf(name) === request.attempt) this.files.remove(`${directory}/${name}`);
    }
  }

  async readTail(
    request: { readonly logPath: string; readonly maxLines: number; readonly maxBytes: number } & CallOptions,
  ): Promise<string> {
    throwIfAborted(request.signal, "readTail");
    this.#requireLogPath(request.logPath);
    const lines = (this.files.read(request.logPath) ?? "").split("\n").slice(0, -1).slice(-request.maxLines);
    return lastBytes({ text: lines.map(recordText).join(""), maxBytes: request.maxBytes });
  }

  #requireLogPath(path: string): void {
    if (!path.startsWith(`${this.#podLogsDir}/`) || path.split("/").includes("..")) {
      throw new NodeletError("invalid", `${path} does not lie in ${this.#podLogsDir}`);
    }
  }

  #containerDir(request: PodFilesRef & { readonly containerName: string }): string {
    requireSegment({ value: request.containerName, what: "container name" });
    return `${podLogDirectory({ podLogsDir: this.#podLogsDir, pod: request })}/${request.containerName}`;
  }
}

function attemptOf(name: string): number | undefined {
  const digits = LOG_NAME.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** What one line of the CRI format says, with its line end unless the next line goes on with it. */
function recordText(line: string): string {
  const [, , tag = "F", ...words] = line.split(" ");
  return words.join(" ") + (tag.startsWith("P") ? "" : "\n");
}
