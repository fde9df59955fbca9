import type { IncomingMessage, ServerResponse } from "node:http";
import { sendMethodNotAllowed, sendNotFound, sendText } from "../responses/text.ts";

/** A request as handlers see it. */
export interface RouteRequest {
  readonly method: string;
  /** Decoded; always begins with `/`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly message: IncomingMessage;
}

/** Answers one request. A rejection becomes a 500. */
export type RouteHandler = (request: RouteRequest, response: ServerResponse) => void | Promise<void>;

/** One endpoint. */
export interface Route {
  /** Absent: any method, as Go's plain handlers. */
  readonly methods?: readonly string[];
  /** An exact path; one that ends with `/` stands for itself, the same without the slash, and everything below. */
  readonly path: string;
  readonly handle: RouteHandler;
}

/**
 * Finds the endpoint of a request: the longest path that fits. Answers 404 and 405 with upstream's texts. Paths are taken as they are: nothing
 * is resolved, so `..` and doubled slashes fit no endpoint.
 */
export class Router {
  readonly #routes: readonly Route[];

  constructor(routes: readonly Route[]) {
    this.#routes = routes.toSorted((a, b) => b.path.length - a.path.length);
  }

  async handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = parseRequest(message);
    if (request === undefined) return sendText(response, { status: 400, text: "400 Bad Request\n" });
    const fitting = this.#routes.filter((route) => fits(route.path, request.path));
    const best = fitting[0];
    if (best === undefined) return sendNotFound(response);
    const candidates = fitting.filter((route) => route.path === best.path);
    const chosen = candidates.find(({ methods }) => methods === undefined || methods.includes(request.method));
    if (chosen === undefined) {
      return sendMethodNotAllowed(response, { allowed: candidates.flatMap(({ methods }) => methods ?? []) });
    }
    await chosen.handle(request, response);
  }
}

function fits(route: string, path: string): boolean {
  return route === path || (route.endsWith("/") && (path.startsWith(route) || path === route.slice(0, -1)));
}

/** Undefined for what is no path at all: `*`, another host's address, escapes that decode to nothing. */
function parseRequest(message: IncomingMessage): RouteRequest | undefined {
  const target = message.url ?? "";
  if (!target.startsWith("/")) return undefined;
  const end = target.indexOf("?");
  const rawPath = end < 0 ? target : target.slice(0, end);
  try {
    const path = decodeURIComponent(rawPath);
    if (path.includes("\0")) return undefined;
    const query = new URLSearchParams(end < 0 ? "" : target.slice(end + 1));
    return { method: message.method ?? "", path, query, message };
  } catch {
    return undefined;
  }
}
