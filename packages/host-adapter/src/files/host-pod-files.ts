import { randomBytes } from "node:crypto";
import { realpath } from "node:fs/promises";
import { NodeletError, type PodFiles, type PodFilesRef } from "@nodelet/core";
import {
  assertPlainName,
  errnoOf,
  isAbsent,
  partsBelow,
  readMountsAtOrBelow,
  readTail,
  removeTree,
  type SafeDirectory,
  withDirectory,
} from "@nodelet/lib-safe-fs";
import { hostCall } from "../errors/host-error.ts";
import { podLogDirectoryName } from "../logs/log-names.ts";
import { decodeTail } from "./decode-tail.ts";

const POD_DIRECTORY_MODE = 0o750;
const LOG_DIRECTORY_MODE = 0o755;
const MAX_TERMINATION_LOG_BYTES = 1024 * 1024;
const MAX_ETC_HOSTS_BYTES = 10 * 1024 * 1024;
const PODS = "pods";

type Cancel = { readonly signal?: AbortSignal };

/** The kubelet's directory layout under `<rootDir>/pods` and `<podLogsDir>`, which must exist (`prepareHostDirectories`). */
export class HostPodFiles implements PodFiles {
  readonly #rootDir: string;
  readonly #podLogsDir: string;
  readonly #mountInfoPath: string;

  constructor(options: {
    readonly rootDir: string;
    readonly podLogsDir: string;
    /** The kernel's list of mounts; /proc/self/mountinfo unless given. */
    readonly mountInfoPath?: string;
  }) {
    this.#rootDir = options.rootDir;
    this.#podLogsDir = options.podLogsDir;
    this.#mountInfoPath = options.mountInfoPath ?? "/proc/self/mountinfo";
  }

  async ensurePod(request: PodFilesRef & Cancel): Promise<void> {
    await hostCall(
      { what: `cannot make the directories of pod ${request.podUid}`, signal: request.signal },
      async () => {
        await this.#ensureUnderPods([request.podUid], async (pod) => {
          for (const name of ["volumes", "plugins"]) await pod.ensureDirectory(name, { mode: POD_DIRECTORY_MODE });
        });
        await withDirectory({ root: this.#podLogsDir }, (logs) =>
          logs.ensureDirectory(podLogDirectoryName(request), { mode: LOG_DIRECTORY_MODE }),
        );
      },
    );
  }

  async ensureContainer(request: PodFilesRef & { readonly containerName: string } & Cancel): Promise<void> {
    const { podUid, containerName, signal } = request;
    await hostCall({ what: `cannot make the directories of container ${containerName}`, signal }, async () => {
      assertPlainName(containerName, `${this.#rootDir}/${PODS}/${podUid}/containers`);
      await this.#ensureUnderPods([podUid, "containers"], (containers) =>
        containers.ensureDirectory(containerName, { mode: POD_DIRECTORY_MODE }),
      );
      await withDirectory({ root: this.#podLogsDir }, async (logs) => {
        const pod = await logs.ensureDown([podLogDirectoryName(request)], { mode: LOG_DIRECTORY_MODE });
        try {
          await pod.ensureDirectory(containerName, { mode: LOG_DIRECTORY_MODE });
        } finally {
          await pod.close();
        }
      });
    });
  }

  async createTerminationLog(
    request: { readonly podUid: string; readonly containerName: string } & Cancel,
  ): Promise<string> {
    const { podUid, containerName, signal } = request;
    return hostCall({ what: `cannot make a termination log for container ${containerName}`, signal }, () =>
      this.#ensureUnderPods([podUid, "containers", containerName], async (directory) => {
        for (;;) {
          const name = randomBytes(4).toString("hex");
          try {
            // Processes of any user in the container write to it.
            await (await directory.createFile(name, { mode: 0o666 })).close();
            return `${directory.path}/${name}`;
          } catch (error) {
            if (errnoOf(error) !== "EEXIST") throw error;
          }
        }
      }),
    );
  }

  async writeEtcHosts(request: { readonly podUid: string; readonly content: string } & Cancel): Promise<string> {
    const { podUid, content, signal } = request;
    const what = `cannot write etc-hosts of pod ${podUid}`;
    if (Buffer.byteLength(content) > MAX_ETC_HOSTS_BYTES) {
      throw new NodeletError("invalid", `${what}: it would have more than ${MAX_ETC_HOSTS_BYTES} bytes`);
    }
    return hostCall({ what, signal }, () =>
      this.#ensureUnderPods([podUid], async (pod) => {
        await writeInPlace(pod, { name: "etc-hosts", content });
        return `${pod.path}/etc-hosts`;
      }),
    );
  }

  async listPods(options: Cancel = {}): Promise<readonly string[]> {
    return hostCall({ what: "cannot list the pod directories", signal: options.signal }, async () => {
      try {
        const entries = await withDirectory({ root: this.#rootDir, local: true, parts: [PODS] }, (pods) => pods.list());
        return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
      } catch (error) {
        if (isAbsent(error)) return [];
        throw error;
      }
    });
  }

  async removePod(request: { readonly podUid: string } & Cancel): Promise<void> {
    const { podUid, signal } = request;
    await hostCall({ what: `cannot remove the directory of pod ${podUid}`, signal }, async () => {
      try {
        await withDirectory({ root: this.#rootDir, local: true, parts: [PODS] }, async (pods) => {
          assertPlainName(podUid, pods.path);
          await this.#assertNothingMounted(podUid);
          if (!(await pods.look(podUid))?.isDirectory()) return;
          await removeEmptyVolumes(pods, podUid);
          await removeTree({ directory: pods, name: podUid, ...(signal && { signal }) });
        });
      } catch (error) {
        if (!isAbsent(error)) throw error;
      }
    });
  }

  async readTerminationLog(
    request: { readonly podUid: string; readonly hostPath: string; readonly maxBytes: number } & Cancel,
  ): Promise<string> {
    const { podUid, hostPath, signal } = request;
    const maxBytes = Math.min(request.maxBytes, MAX_TERMINATION_LOG_BYTES);
    return hostCall({ what: `cannot read the termination log of pod ${podUid}`, signal }, async () => {
      assertPlainName(podUid, `${this.#rootDir}/${PODS}`);
      const parts = partsBelow({ root: `${this.#rootDir}/${PODS}/${podUid}`, path: hostPath });
      const name = parts.at(-1) ?? "";
      try {
        return await withDirectory(
          { root: this.#rootDir, local: true, parts: [PODS, podUid, ...parts.slice(0, -1)] },
          (directory) => readTailText(directory, { name, maxBytes }),
        );
      } catch (error) {
        if (isAbsent(error)) return "";
        throw error;
      }
    });
  }

  async #ensureUnderPods<T>(parts: readonly string[], use: (directory: SafeDirectory) => Promise<T>): Promise<T> {
    return withDirectory({ root: this.#rootDir, local: true }, async (root) => {
      const directory = await root.ensureDown([PODS, ...parts], { mode: POD_DIRECTORY_MODE });
      try {
        return await use(directory);
      } finally {
        await directory.close();
      }
    });
  }

  /** Looks in the kernel's list instead of at the tree: a volume whose server is gone would hang whoever touches it. */
  async #assertNothingMounted(podUid: string): Promise<void> {
    const path = `${await realpath(this.#rootDir)}/${PODS}/${podUid}`;
    const mounts = await readMountsAtOrBelow({ path, mountInfoPath: this.#mountInfoPath });
    const [first] = mounts;
    if (first === undefined) return;
    throw new NodeletError(
      "conflict",
      `orphaned pod "${podUid}" found, but ${mounts.length} volume paths are still mounted, for example ${first.mountPoint}`,
    );
  }
}

/**
 * Volumes are torn down by their own plugins; what is left there may be data. So directories of volumes are only removed when they are empty.
 */
async function removeEmptyVolumes(pods: SafeDirectory, podUid: string): Promise<void> {
  for (const group of ["volumes", "volumeDevices", "volume-subpaths"]) {
    const root = await openIfThere(pods, [podUid, group]);
    if (root === undefined) continue;
    try {
      await removeEmptyDirectories(root, 3);
    } finally {
      await root.close();
    }
  }
}

async function removeEmptyDirectories(directory: SafeDirectory, depth: number): Promise<void> {
  for (const entry of await directory.list()) {
    if (!entry.isDirectory() || depth === 0) throw leftVolumeError(directory, entry.name);
    const child = await directory.openChild(entry.name);
    try {
      await removeEmptyDirectories(child, depth - 1);
    } finally {
      await child.close();
    }
    await directory.removeEmpty(entry.name);
  }
}

function leftVolumeError(directory: SafeDirectory, name: string): NodeletError {
  return new NodeletError(
    "conflict",
    `a volume still holds data: ${directory.path}/${name}; remove it when nobody needs it`,
  );
}

async function openIfThere(directory: SafeDirectory, parts: readonly string[]): Promise<SafeDirectory | undefined> {
  try {
    return await directory.openDown(parts);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** Rewrites the same inode: running containers have it mounted, and would not see a new file of that name. */
async function writeInPlace(
  directory: SafeDirectory,
  file: { readonly name: string; readonly content: string },
): Promise<void> {
  const made = await directory.createFile(file.name, { mode: 0o644 }).catch((error: unknown) => {
    if (errnoOf(error) !== "EEXIST") throw error;
    return undefined;
  });
  const handle = made ?? (await directory.openFile(file.name, { access: "write" }));
  try {
    if (made === undefined) await handle.truncate(0);
    await handle.writeFile(file.content);
    if (made === undefined) await handle.chmod(0o644);
  } finally {
    await handle.close();
  }
}

async function readTailText(
  directory: SafeDirectory,
  file: { readonly name: string; readonly maxBytes: number },
): Promise<string> {
  const handle = await directory.openFile(file.name, { access: "read" });
  try {
    const { bytes, offset } = await readTail(handle, { maxBytes: file.maxBytes });
    return decodeTail(bytes, { maxBytes: file.maxBytes, cutBefore: offset > 0 });
  } finally {
    await handle.close();
  }
}
