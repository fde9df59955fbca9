import { join } from "node:path";
import { NodeletError } from "@nodelet/core";
import { parseEndpoint } from "@nodelet/cri-adapter";
import { acquireLock, type FileLock, type LockHolder, LockUnavailableError, socketLockPath } from "@nodelet/lib-native";

const ROOT_DIRECTORY_MODE = 0o750;
/** Mode of the directory of a runtime that was never started, as containerd makes it. */
const SOCKET_DIRECTORY_MODE = 0o711;

/** What two agents must not share. */
export interface LockedPlaces {
  readonly rootDir: string;
  readonly runtimeEndpoint: string;
  readonly nodeName: string;
}

/**
 * Locks the root directory and the runtime's endpoint for this process: two agents on either would kill each other's pods. The kernel drops both
 * with the process. Throws `conflict` that names who holds it, or `unavailable` when this machine cannot lock.
 */
export async function lockPlaces(places: LockedPlaces): Promise<{ release(): void }> {
  const { socketPath, url } = parseEndpoint(places.runtimeEndpoint);
  const details = { rootDir: places.rootDir, runtimeEndpoint: url, node: places.nodeName };
  const outcomes = await Promise.allSettled([
    take(`the root directory ${places.rootDir}`, {
      path: join(places.rootDir, "nodelet.lock"),
      details,
      directoryMode: ROOT_DIRECTORY_MODE,
    }),
    socketLockPath({ socketPath }).then((path) =>
      take(`the runtime ${url}`, { path, details, directoryMode: SOCKET_DIRECTORY_MODE }),
    ),
  ]);
  const locks = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  const release = (): void => {
    for (const lock of locks) lock.release();
  };
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed === undefined) return { release };
  release();
  throw failed.reason;
}

async function take(what: string, options: Parameters<typeof acquireLock>[0]): Promise<FileLock> {
  try {
    const outcome = await acquireLock(options);
    if (outcome.held) return outcome.lock;
    throw new NodeletError("conflict", `${what} is in use by another agent${describe(outcome.holder)}`);
  } catch (error) {
    if (NodeletError.is(error)) throw error;
    const kind = error instanceof LockUnavailableError ? "unavailable" : "permission";
    const message = error instanceof Error ? error.message : String(error);
    throw new NodeletError(kind, `${what} cannot be locked: ${message}`, { cause: error });
  }
}

function describe(holder: LockHolder | undefined): string {
  if (holder === undefined) return "; stop it first";
  const { node, rootDir } = holder.details;
  return `: node ${node ?? "?"}, process ${holder.pid}, root directory ${rootDir ?? "?"}; stop it first (nodelet stop --root-dir=${rootDir ?? "DIR"})`;
}
