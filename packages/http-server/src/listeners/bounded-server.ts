import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Logger } from "@nodelet/core";
import { sendText } from "../responses/text.ts";
import type { Router } from "../routing/router.ts";

// An import of "node:http" evaluates all that it exports, a WebSocket client among it, which costs 12 MB of resident memory.
const { createServer } = process.getBuiltinModule("node:http");

const MAX_HEADER_BYTES = 64 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** A client that neither sends nor reads for so long is cut off. */
const STALLED_TIMEOUT_MS = 120_000;
const KEEP_ALIVE_TIMEOUT_MS = 90_000;

/** An HTTP server with bounds on everything that a client decides: connections, headers, time, bodies (none is read). */
export function createBoundedServer(options: {
  readonly router: Router;
  readonly logger: Logger;
  readonly maxConnections: number;
}): Server {
  const { router, logger } = options;
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      connectionsCheckingInterval: 5_000,
    },
    (request, response) => {
      if (hasBody(request)) response.shouldKeepAlive = false;
      router.handle(request, response).catch((error: unknown) => failed({ error, request, response, logger }));
    },
  );
  server.maxConnections = options.maxConnections;
  server.maxHeadersCount = 200;
  server.timeout = STALLED_TIMEOUT_MS;
  return server;
}

/** An unread body would be drained for as long as its sender likes: such a connection ends with the answer. */
function hasBody(request: IncomingMessage): boolean {
  const length = request.headers["content-length"];
  return request.headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

function failed(context: {
  readonly error: unknown;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly logger: Logger;
}): void {
  const { error, request, response, logger } = context;
  logger.error("An HTTP request failed", { err: error, method: request.method, path: request.url?.slice(0, 200) });
  if (response.headersSent) response.destroy();
  else sendText(response, { status: 500, text: "Internal Error\n" });
}
