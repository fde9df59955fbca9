import {
  type Clock,
  type HttpAnswer,
  type HttpFetch,
  type HttpGetRequest,
  NodeletError,
  throwIfAborted,
} from "@nodelet/core";

/** A request as the server sees it. */
export interface ServedRequest {
  /** Absolute, with query. */
  readonly url: string;
  /** In the order in which they were given. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** What a server answers; 200 with nothing in it unless told otherwise. */
export interface ServedAnswer {
  readonly status?: number;
  readonly statusText?: string;
  readonly body?: string | Uint8Array;
  /** With a status of redirection: where to go, absolute or relative. */
  readonly location?: string;
  /** How long the whole answer takes, in milliseconds. */
  readonly delayMs?: number;
}

/** Answers requests; `undefined` never answers. */
export type HttpHandler = (request: ServedRequest) => ServedAnswer | undefined;

const MAX_REDIRECTS = 10;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const STATUS_TEXTS: Readonly<Record<number, string>> = { 200: "OK", 302: "Found", 404: "Not Found" };
/** RFC 9110 section 5.6.2: the characters of a token. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** HTTP servers in memory, by origin (`http://host:port`). An origin that nobody serves refuses the connection. */
export class InMemoryHttpFetch implements HttpFetch {
  readonly #clock: Clock;
  readonly #handlers = new Map<string, HttpHandler>();
  readonly #requests: ServedRequest[] = [];

  constructor(options: { readonly clock: Clock }) {
    this.#clock = options.clock;
  }

  /** Every request that reached a server, redirected ones too. */
  get requests(): readonly ServedRequest[] {
    return this.#requests;
  }

  /** Lets a server listen at an origin, in place of the one that did. */
  serve(server: { readonly origin: string; readonly handler: HttpHandler }): void {
    this.#handlers.set(parseUrl(server.origin).origin, server.handler);
  }

  /** Takes a server away: connections are refused from now on. */
  close(origin: string): void {
    this.#handlers.delete(parseUrl(origin).origin);
  }

  async get(request: HttpGetRequest): Promise<HttpAnswer> {
    throwIfAborted(request.signal, "an HTTP request");
    const { timeoutMs, signal } = request;
    const givenUp = new AbortController();
    return new Promise((resolve, reject) => {
      const fail = (kind: "deadline" | "cancelled", message: string) => () => {
        givenUp.abort();
        end();
        reject(new NodeletError(kind, message));
      };
      const timer = this.#clock.setTimer(timeoutMs, fail("deadline", `no whole answer within ${timeoutMs} ms`));
      const onAbort = fail("cancelled", "an HTTP request was cancelled");
      const end = () => {
        timer.cancel();
        signal?.removeEventListener("abort", onAbort);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#follow({ ...request, signal: givenUp.signal })
        .then(resolve, reject)
        .finally(end);
    });
  }

  async #follow(request: HttpGetRequest): Promise<HttpAnswer> {
    let url = parseUrl(request.url);
    let headers = checkedHeaders(request.headers);
    for (let redirects = 0; ; redirects += 1) {
      throwIfAborted(request.signal, "an HTTP request");
      const {
        status = 200,
        location,
        statusText = STATUS_TEXTS[status] ?? "",
        body = "",
      } = await this.#ask(url, headers);
      if (!REDIRECTS.has(status) || location === undefined) {
        const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
        if (bytes.length > request.maxBytes) {
          throw new NodeletError("resourceExhausted", `the answer has more than ${request.maxBytes} bytes`);
        }
        return { status, statusText, body: bytes };
      }
      if (redirects >= MAX_REDIRECTS) throw new NodeletError("unavailable", `stopped after ${MAX_REDIRECTS} redirects`);
      const next = parseUrl(location, url);
      if (next.hostname !== url.hostname || (url.protocol === "https:" && next.protocol === "http:")) headers = [];
      url = next;
    }
  }

  async #ask(url: URL, headers: ServedRequest["headers"]): Promise<ServedAnswer> {
    const handler = this.#handlers.get(url.origin);
    if (handler === undefined) throw new NodeletError("unavailable", `${url.host} refuses the connection`);
    const seen = { url: url.href, headers };
    this.#requests.push(seen);
    const answer = handler(seen);
    if (answer === undefined) return new Promise<never>(() => undefined);
    const { delayMs = 0 } = answer;
    if (delayMs > 0) await new Promise<void>((resolve) => void this.#clock.setTimer(delayMs, resolve));
    return answer;
  }
}

function parseUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    // The text may hold a password.
    throw new NodeletError("invalid", "what was given is not an http or https URL");
  }
  url.username = "";
  url.password = "";
  return url;
}

function checkedHeaders(headers: HttpGetRequest["headers"]): HttpGetRequest["headers"] {
  for (const [name, value] of headers) {
    if (!HEADER_NAME.test(name) || /[\r\n\0]/.test(value)) {
      throw new NodeletError("invalid", `the header ${JSON.stringify(name)} cannot be sent`);
    }
  }
  return headers;
}
