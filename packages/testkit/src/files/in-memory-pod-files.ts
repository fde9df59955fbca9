import { type CallOptions, NodeletError, type PodFiles, type PodFilesRef, throwIfAborted } from "@nodelet/core";
import { SeededRandom } from "../random/seeded-random.ts";
import { InMemoryHostFiles } from "./in-memory-host-files.ts";
import { lastBytes } from "./last-bytes.ts";
import { requireSegment } from "./path-segment.ts";
import { podLogDirectory } from "./pod-log-directory.ts";

/** Where an InMemoryPodFiles keeps its directories. */
export interface InMemoryPodFilesOptions {
  /** Shared with the runtime and the container logs; one of its own when absent. */
  readonly files?: InMemoryHostFiles;
  /** `/var/lib/kubelet` when absent. */
  readonly rootDir?: string;
  /** `/var/log/pods` when absent. */
  readonly podLogsDir?: string;
  /** Makes the names of termination logs. */
  readonly random?: SeededRandom;
}

/** Pod directories in memory, laid out as the kubelet lays them out. Mounts are what `files.setMounted` says. */
export class InMemoryPodFiles implements PodFiles {
  readonly files: InMemoryHostFiles;
  readonly #podsDir: string;
  readonly #podLogsDir: string;
  readonly #random: SeededRandom;

  constructor(options: InMemoryPodFilesOptions = {}) {
    this.files = options.files ?? new InMemoryHostFiles();
    this.#podsDir = `${options.rootDir ?? "/var/lib/kubelet"}/pods`;
    this.#podLogsDir = options.podLogsDir ?? "/var/log/pods";
    this.#random = options.random ?? new SeededRandom("pod files");
  }

  async ensurePod(request: PodFilesRef & CallOptions): Promise<void> {
    throwIfAborted(request.signal, "ensurePod");
    const podDir = this.#podDir(request.podUid);
    for (const name of ["volumes", "plugins"]) this.files.makeDirectory(`${podDir}/${name}`);
    this.files.makeDirectory(podLogDirectory({ podLogsDir: this.#podLogsDir, pod: request }));
  }

  async ensureContainer(request: PodFilesRef & { readonly containerName: string } & CallOptions): Promise<void> {
    throwIfAborted(request.signal, "ensureContainer");
    this.files.makeDirectory(this.#containerDir(request));
    this.files.makeDirectory(
      `${podLogDirectory({ podLogsDir: this.#podLogsDir, pod: request })}/${request.containerName}`,
    );
  }

  async createTerminationLog(
    request: { readonly podUid: string; readonly containerName: string } & CallOptions,
  ): Promise<string> {
    throwIfAborted(request.signal, "createTerminationLog");
    const path = `${this.#containerDir(request)}/${this.#random.hex(8)}`;
    this.files.write({ path, content: "" });
    return path;
  }

  async writeEtcHosts(request: { readonly podUid: string; readonly content: string } & CallOptions): Promise<string> {
    throwIfAborted(request.signal, "writeEtcHosts");
    const path = `${this.#podDir(request.podUid)}/etc-hosts`;
    this.files.write({ path, content: request.content });
    return path;
  }

  async listPods(options: CallOptions = {}): Promise<readonly string[]> {
    throwIfAborted(options.signal, "listPods");
    return this.files.list(this.#podsDir);
  }

  async removePod(request: { readonly podUid: string } & CallOptions): Promise<void> {
    throwIfAborted(request.signal, "removePod");
    const podDir = this.#podDir(request.podUid);
    if (this.files.mountedUnder(podDir)) {
      throw new NodeletError("conflict", `${podDir} cannot be removed while something is mounted under it`);
    }
    this.files.remove(podDir);
  }

  async readTerminationLog(
    request: { readonly podUid: string; readonly hostPath: string; readonly maxBytes: number } & CallOptions,
  ): Promise<string> {
    throwIfAborted(request.signal, "readTerminationLog");
    const podDir = this.#podDir(request.podUid);
    if (!request.hostPath.startsWith(`${podDir}/`) || request.hostPath.split("/").includes("..")) {
      throw new NodeletError("invalid", `termination log ${request.hostPath} does not lie in ${podDir}`);
    }
    return lastBytes({ text: this.files.read(request.hostPath) ?? "", maxBytes: request.maxBytes });
  }

  #podDir(podUid: string): string {
    requireSegment({ value: podUid, what: "pod UID" });
    return `${this.#podsDir}/${podUid}`;
  }

  #containerDir(request: { readonly podUid: string; readonly containerName: string }): string {
    requireSegment({ value: request.containerName, what: "container name" });
    return `${this.#podDir(request.podUid)}/containers/${request.containerName}`;
  }
}
