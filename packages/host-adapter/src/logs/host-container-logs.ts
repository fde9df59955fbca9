import { stat } from "node:fs/promises";
import { type ContainerLogs, NodeletError, type PodFilesRef } from "@nodelet/core";
import {
  isAbsent,
  partsBelow,
  removeTree,
  type SafeDirectory,
  temporaryName,
  withDirectory,
} from "@nodelet/lib-safe-fs";
import { hostError } from "../errors/host-error.ts";
import { readCriLogTail } from "./cri-log.ts";
import { HostileLane } from "./hostile-lane.ts";
import { attemptOfLogName, containerIdOfLinkName, parsePodLogDirectoryName, podLogDirectoryName } from "./log-names.ts";

type Cancel = { readonly signal?: AbortSignal };
type ContainerLogRef = PodFilesRef & { readonly containerName: string };

const LANE_WIDTH = 2;
const READ_TIMEOUT_MS = 10_000;
const CHANGE_TIMEOUT_MS = 60_000;

/**
 * Container logs in the kubelet's layout under `podLogsDir`, and links to them in `containerLinksDir` (the kubelet's /var/log/containers); both
 * must exist (`prepareHostDirectories`). At most two calls are at the file system at a time and each has a deadline, since log
 * directories may be anywhere.
 */
export class HostContainerLogs implements ContainerLogs {
  readonly #podLogsDir: string;
  readonly #linksDir: string;
  readonly #lane = new HostileLane({ width: LANE_WIDTH });

  constructor(options: { readonly podLogsDir: string; readonly containerLinksDir?: string }) {
    this.#podLogsDir = options.podLogsDir.replace(/(?!^)\/+$/, "");
    this.#linksDir = options.containerLinksDir ?? "/var/log/containers";
  }

  async highestAttempt(request: ContainerLogRef & Cancel): Promise<number | undefined> {
    const attempts = await this.#read(
      `cannot list the logs of container ${request.containerName}`,
      request.signal,
      () =>
        this.#inContainerDirectory(request, async (directory) =>
          (await directory.list()).map((entry) => attemptOfLogName(entry.name)),
        ),
    );
    const known = (attempts ?? []).filter((attempt) => attempt !== undefined);
    return known.length === 0 ? undefined : known.reduce((highest, attempt) => Math.max(highest, attempt));
  }

  async link(request: { readonly linkName: string; readonly logPath: string } & Cancel): Promise<void> {
    const { linkName, logPath, signal } = request;
    await this.#change(`cannot link the container log ${logPath}`, signal, async () => {
      const parts = partsBelow({ root: this.#podLogsDir, path: logPath });
      if (!(await this.#isRegularLog(parts))) return;
      await withDirectory({ root: this.#linksDir }, async (links) => {
        const present = await links.look(linkName);
        if (present?.isSymbolicLink() && (await links.readLink(linkName)) === logPath) return;
        if (present !== undefined && !present.isSymbolicLink()) {
          throw notALink(this.#linksDir, linkName);
        }
        await (present === undefined
          ? links.makeLink(linkName, { target: logPath })
          : replaceLink(links, { name: linkName, target: logPath }));
      });
    });
  }

  async unlink(request: { readonly linkName: string } & Cancel): Promise<void> {
    const { linkName, signal } = request;
    await this.#change(`cannot remove the container log link ${linkName}`, signal, () =>
      withDirectory({ root: this.#linksDir }, async (links) => {
        const present = await links.look(linkName);
        if (present !== undefined && !present.isSymbolicLink()) throw notALink(this.#linksDir, linkName);
        await links.unlink(linkName);
      }).catch(absentIsNothing),
    );
  }

  async removeDanglingLinks(request: { readonly keep: (containerId: string) => boolean } & Cancel): Promise<number> {
    return this.#change("cannot look through the container log links", request.signal, () =>
      withDirectory({ root: this.#linksDir }, async (links) => {
        let removed = 0;
        for (const entry of await links.list()) {
          const containerId = entry.isSymbolicLink() ? containerIdOfLinkName(entry.name) : undefined;
          // Who lives is asked first: nothing is looked up for most links.
          if (containerId === undefined || request.keep(containerId)) continue;
          if ((await this.#dangles(links, entry.name)) && (await links.unlink(entry.name))) removed += 1;
        }
        return removed;
      }).catch(absentIsNothing),
    ).then((removed) => removed ?? 0);
  }

  async listPodLogs(options: Cancel = {}): Promise<readonly PodFilesRef[]> {
    const entries = await this.#read("cannot list the pod log directories", options.signal, () =>
      withDirectory({ root: this.#podLogsDir }, (root) => root.list()),
    );
    return (entries ?? []).flatMap((entry) =>
      entry.isDirectory() ? (parsePodLogDirectoryName(entry.name) ?? []) : [],
    );
  }

  async removePodLogs(request: PodFilesRef & Cancel): Promise<void> {
    const { signal } = request;
    await this.#change(`cannot remove the logs of pod ${request.podUid}`, signal, () =>
      withDirectory({ root: this.#podLogsDir }, (root) =>
        removeTree({ directory: root, name: podLogDirectoryName(request), ...(signal && { signal }) }),
      ),
    );
  }

  async removeAttemptLogs(request: ContainerLogRef & { readonly attempt: number } & Cancel): Promise<void> {
    await this.#change(`cannot remove logs of container ${request.containerName}`, request.signal, () =>
      this.#inContainerDirectory(request, async (directory) => {
        for (const entry of await directory.list()) {
          if (!entry.isDirectory() && attemptOfLogName(entry.name) === request.attempt)
            await directory.unlink(entry.name);
        }
      }).catch(absentIsNothing),
    );
  }

  async readTail(
    request: { readonly logPath: string; readonly maxLines: number; readonly maxBytes: number } & Cancel,
  ): Promise<string> {
    const text = await this.#read(`cannot read the container log ${request.logPath}`, request.signal, () => {
      const parts = partsBelow({ root: this.#podLogsDir, path: request.logPath });
      return withDirectory({ root: this.#podLogsDir, parts: parts.slice(0, -1) }, async (directory) => {
        const handle = await directory.openFile(parts.at(-1) ?? "", { access: "read" });
        try {
          return await readCriLogTail(handle, request);
        } finally {
          await handle.close();
        }
      });
    });
    return text ?? "";
  }

  async #inContainerDirectory<T>(ref: ContainerLogRef, use: (directory: SafeDirectory) => Promise<T>): Promise<T> {
    return withDirectory({ root: this.#podLogsDir, parts: [podLogDirectoryName(ref), ref.containerName] }, use);
  }

  async #isRegularLog(parts: readonly string[]): Promise<boolean> {
    const stats = await withDirectory({ root: this.#podLogsDir, parts: parts.slice(0, -1) }, (directory) =>
      directory.look(parts.at(-1) ?? ""),
    ).catch(absentIsNothing);
    return stats?.isFile() ?? false;
  }

  /** Only links into our own log directory are judged: others belong to other agents of this machine. */
  async #dangles(links: SafeDirectory, name: string): Promise<boolean> {
    const target = await links.readLink(name);
    if (target === undefined || !target.startsWith(`${this.#podLogsDir}/`)) return false;
    return stat(target).then(
      () => false,
      (error: unknown) => isAbsent(error),
    );
  }

  /** Undefined when a directory on the way does not exist. */
  async #read<T>(what: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T | undefined> {
    return this.#run({ what, signal, changes: false, timeoutMs: READ_TIMEOUT_MS }, () => work().catch(absentIsNothing));
  }

  async #change<T>(what: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    return this.#run({ what, signal, changes: true, timeoutMs: CHANGE_TIMEOUT_MS }, work);
  }

  async #run<T>(call: Parameters<HostileLane["run"]>[0], work: () => Promise<T>): Promise<T> {
    return this.#lane.run(call, async () => {
      try {
        return await work();
      } catch (error) {
        throw hostError(call.what, error);
      }
    });
  }
}

function notALink(directory: string, name: string): NodeletError {
  return new NodeletError("conflict", `${directory}/${name} exists and is not a link`);
}

/** Makes the new link beside the old one and renames it over, so that there is one at every moment. */
async function replaceLink(
  links: SafeDirectory,
  link: { readonly name: string; readonly target: string },
): Promise<void> {
  const temporary = temporaryName();
  await links.makeLink(temporary, { target: link.target });
  try {
    await links.rename({ from: temporary, to: link.name });
  } catch (error) {
    await links.unlink(temporary);
    throw error;
  }
}

function absentIsNothing(error: unknown): undefined {
  if (isAbsent(error)) return undefined;
  throw error;
}
