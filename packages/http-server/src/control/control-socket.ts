import { randomBytes } from "node:crypto";
import { chmod } from "node:fs/promises";
import type { Server } from "node:http";
import { connect } from "node:net";
import { basename, dirname } from "node:path";
import { kindOfErrno, type Logger, NodeletError } from "@nodelet/core";
import { errnoOf, removeTree, SafeDirectory } from "@nodelet/lib-safe-fs";
import type { NodeletServerData } from "../data/server-data.ts";
import { controlRoutes } from "../endpoints/control.ts";
import { healthRoutes, pingCheck } from "../endpoints/healthz.ts";
import { podsRoute } from "../endpoints/pods.ts";
import { createBoundedServer } from "../listeners/bounded-server.ts";
import { closeServer } from "../listeners/close-server.ts";
import { Router } from "../routing/router.ts";

const MAX_CONNECTIONS = 64;
const TEMPORARY_PREFIX = ".nodelet-sock-";

/**
 * The control socket: HTTP on a unix socket with mode 0600, for people and tools on this machine that may read the root directory. Its directory
 * must exist. Any length of path works (a socket's own address holds 107 bytes): it is addressed through the open directory.
 */
export class ControlSocket {
  readonly #path: string;
  readonly #logger: Logger;
  readonly #router: Router;
  #open: { readonly server: Server; readonly directory: SafeDirectory; readonly inode: number } | undefined;

  constructor(options: { readonly path: string; readonly data: NodeletServerData; readonly logger: Logger }) {
    const { data } = options;
    this.#path = options.path;
    this.#logger = options.logger;
    const checks = () => [pingCheck, ...data.healthChecks()];
    this.#router = new Router([...healthRoutes(checks), podsRoute(data), ...controlRoutes(data)]);
  }

  /**
   * Listens. A socket that a dead agent left is replaced; throws `conflict` when an agent answers on it or something else has its name.
   */
  async listen(): Promise<void> {
    const directory = await SafeDirectory.open(dirname(this.#path)).catch((error: unknown) => {
      throw socketError(this.#path, error);
    });
    try {
      await this.#assertFree(directory);
      this.#open = { directory, ...(await this.#bind(directory)) };
    } catch (error) {
      await directory.close();
      throw socketError(this.#path, error);
    }
  }

  /** Stops listening and removes the socket when it is still ours. Idempotent. */
  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined) return;
    const name = basename(this.#path);
    if ((await open.directory.look(name))?.ino === open.inode) await open.directory.unlink(name);
    await closeServer(open.server);
    await open.directory.close();
  }

  async #assertFree(directory: SafeDirectory): Promise<void> {
    const name = basename(this.#path);
    const present = await directory.look(name);
    if (present === undefined) return;
    if (!present.isSocket()) throw new NodeletError("conflict", "it exists and is not a socket; remove it");
    if (await answers(directory.at(name))) throw new NodeletError("conflict", "a running agent answers on it");
  }

  /**
   * Nobody else can reach the socket before it has its mode: it is bound in a directory that only its owner may enter, then renamed into place,
   * which also replaces a stale one in one step.
   */
  async #bind(directory: SafeDirectory): Promise<{ readonly server: Server; readonly inode: number }> {
    for (const entry of await directory.list()) {
      if (entry.isDirectory() && entry.name.startsWith(TEMPORARY_PREFIX))
        await removeTree({ directory, name: entry.name });
    }
    const temporary = `${TEMPORARY_PREFIX}${randomBytes(8).toString("hex")}`;
    const socketName = randomBytes(8).toString("hex");
    const private_ = await directory.ensureChild(temporary, { mode: 0o700 });
    const server = createBoundedServer({ router: this.#router, logger: this.#logger, maxConnections: MAX_CONNECTIONS });
    try {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen({ path: private_.at(socketName) }, resolve);
      });
      server.on("error", (err) => this.#logger.error("The control socket failed", { err, path: this.#path }));
      await chmod(private_.at(socketName), 0o600);
      await private_.rename({ from: socketName, to: basename(this.#path), into: directory });
      return { server, inode: (await directory.look(basename(this.#path)))?.ino ?? 0 };
    } catch (error) {
      server.close();
      throw error;
    } finally {
      await private_.close();
      await removeTree({ directory, name: temporary });
    }
  }
}

async function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1_000, () => end(true));
    socket.once("connect", () => end(true));
    socket.once("error", (error) => end(errnoOf(error) !== "ECONNREFUSED" && errnoOf(error) !== "ENOENT"));
  });
}

function socketError(path: string, error: unknown): NodeletError {
  const what = `the control socket ${path} cannot be opened`;
  if (NodeletError.is(error)) return new NodeletError(error.kind, `${what}: ${error.message}`, { cause: error });
  const message = error instanceof Error ? error.message : String(error);
  return new NodeletError(kindOfErrno(errnoOf(error)), `${what}: ${message}`, { cause: error });
}
