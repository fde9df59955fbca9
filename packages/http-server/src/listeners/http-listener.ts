import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { kindOfErrno, type Logger, NodeletError } from "@nodelet/core";
import { errnoOf } from "@nodelet/lib-safe-fs";
import type { Router } from "../routing/router.ts";
import { createBoundedServer } from "./bounded-server.ts";
import { closeServer } from "./close-server.ts";

const MAX_CONNECTIONS = 256;
const RETRY_MS = 5_000;

/** Where a listener listens. */
export interface ListenAddress {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

/** One plain HTTP listener on a TCP port. */
export class HttpListener {
  readonly #name: string;
  readonly #router: Router;
  readonly #logger: Logger;
  #server: Server | undefined;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: { readonly name: string; readonly router: Router; readonly logger: Logger }) {
    this.#name = options.name;
    this.#router = options.router;
    this.#logger = options.logger;
  }

  /** Listens; answers the address with the port that it got. Throws `alreadyExists` when it is taken, `permission`, or `invalid`. */
  async listen(address: ListenAddress): Promise<ListenAddress> {
    const server = createBoundedServer({ router: this.#router, logger: this.#logger, maxConnections: MAX_CONNECTIONS });
    await new Promise<void>((resolve, reject) => {
      server.once("error", (error) => reject(listenError(this.#name, address, error)));
      server.listen({ host: address.host, port: address.port }, resolve);
    });
    server.on("error", (err) => this.#logger.error("A listener failed", { err, listener: this.#name }));
    this.#server = server;
    if (this.#closed) await this.close();
    return { host: address.host, port: (server.address() as AddressInfo | null)?.port ?? address.port };
  }

  /** Listens, and tries again every 5 s for as long as the address is not to be had, as upstream does for health. */
  async keepListening(address: ListenAddress): Promise<void> {
    try {
      await this.listen(address);
    } catch (err) {
      this.#logger.error("A listener could not start and is tried again", {
        err,
        listener: this.#name,
        retryMs: RETRY_MS,
      });
      if (!this.#closed) this.#retry = setTimeout(() => void this.keepListening(address), RETRY_MS);
    }
  }

  /** Stops listening, gives answers under way a second, then cuts them off. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    const server = this.#server;
    this.#server = undefined;
    if (server !== undefined) await closeServer(server);
  }
}

function listenError(name: string, address: ListenAddress, error: Error): NodeletError {
  const code = errnoOf(error);
  const what = `the ${name} listener cannot use ${address.host}:${address.port}`;
  const why =
    code === "EADDRINUSE" ? "another process listens there; choose another port, or 0 to switch it off" : error.message;
  return new NodeletError(code === "EADDRNOTAVAIL" ? "invalid" : kindOfErrno(code), `${what}: ${why}`, {
    cause: error,
  });
}
