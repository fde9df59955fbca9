import type { ClientRequest, IncomingMessage } from "node:http";
import { type HttpAnswer, type HttpFetch, type HttpGetRequest, kindOfErrno, NodeletError } from "@nodelet/core";
import { errnoOf } from "@nodelet/lib-safe-fs";

// An import of "node:http" evaluates all that it exports, a WebSocket client among it, which costs 12 MB of resident memory.
const { request: httpRequest, validateHeaderName, validateHeaderValue } = process.getBuiltinModule("node:http");

const MAX_REDIRECTS = 10;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MAX_HEADER_BYTES = 64 * 1024;

/** HTTP GET with Node's own client: one connection a request, certificates checked against the bundled authorities. */
export class HttpFetcher implements HttpFetch {
  async get(request: HttpGetRequest): Promise<HttpAnswer> {
    const what = `GET ${printableUrl(request.url)}`;
    if (request.signal?.aborted) throw new NodeletError("cancelled", `${what}: was cancelled`);
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), request.timeoutMs);
    const signal = request.signal ? AbortSignal.any([request.signal, deadline.signal]) : deadline.signal;
    try {
      return await followRedirects({ ...request, signal });
    } catch (error) {
      if (request.signal?.aborted) throw new NodeletError("cancelled", `${what}: was cancelled`, { cause: error });
      if (deadline.signal.aborted) {
        throw new NodeletError("deadline", `${what}: no whole answer within ${request.timeoutMs} ms`, { cause: error });
      }
      throw fetchError(what, error);
    } finally {
      clearTimeout(timer);
    }
  }
}

type BoundRequest = HttpGetRequest & { readonly signal: AbortSignal };

async function followRedirects(request: BoundRequest): Promise<HttpAnswer> {
  let url = parseUrl(request.url);
  let headers = headersOf(request.headers);
  for (let redirects = 0; ; redirects += 1) {
    const response = await send({ url, headers, signal: request.signal });
    const { location } = response.headers;
    if (!REDIRECTS.has(response.statusCode ?? 0) || location === undefined) return readAnswer(response, request);
    response.destroy();
    if (redirects >= MAX_REDIRECTS) throw new NodeletError("unavailable", `stopped after ${MAX_REDIRECTS} redirects`);
    const next = parseUrl(location, url);
    // The headers may be credentials for the host that the operator named.
    const weaker = url.protocol === "https:" && next.protocol === "http:";
    if (next.hostname !== url.hostname || weaker) headers = headersOf([]);
    next.username = "";
    next.password = "";
    url = next;
  }
}

function parseUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new NodeletError("invalid", `${printableUrl(text)} is not an http or https URL`);
  }
  return url;
}

function headersOf(pairs: HttpGetRequest["headers"]): Record<string, string | string[]> {
  const values = new Map<string, string[]>([["user-agent", ["nodelet"]]]);
  const given = new Set<string>();
  for (const [name, value] of pairs) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch (error) {
      throw new NodeletError("invalid", `the header ${JSON.stringify(name)} cannot be sent`, { cause: error });
    }
    const key = name.toLowerCase();
    if (!given.has(key)) values.delete(key);
    given.add(key);
    values.set(key, [...(values.get(key) ?? []), value]);
  }
  return Object.fromEntries([...values].map(([key, all]) => [key, key === "host" ? (all[0] ?? "") : all]));
}

async function send(options: {
  readonly url: URL;
  readonly headers: Record<string, string | string[]>;
  readonly signal: AbortSignal;
}): Promise<IncomingMessage> {
  const { url, headers, signal } = options;
  return new Promise((resolve, reject) => {
    // TLS is loaded when it is first needed.
    const send = url.protocol === "https:" ? process.getBuiltinModule("node:https").request : httpRequest;
    const request: ClientRequest = send(url, {
      headers,
      signal,
      agent: false,
      maxHeaderSize: MAX_HEADER_BYTES,
    });
    request.once("response", resolve);
    request.once("error", reject);
    request.end();
  });
}

async function readAnswer(response: IncomingMessage, request: BoundRequest): Promise<HttpAnswer> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    total += chunk.length;
    if (total > request.maxBytes) {
      throw new NodeletError("resourceExhausted", `the answer has more than ${request.maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return { status: response.statusCode ?? 0, statusText: response.statusMessage ?? "", body: Buffer.concat(chunks) };
}

function fetchError(what: string, error: unknown): NodeletError {
  if (NodeletError.is(error)) return new NodeletError(error.kind, `${what}: ${error.message}`, { cause: error });
  const code = errnoOf(error);
  const kind = kindOfErrno(code);
  const message = error instanceof Error ? error.message : String(error);
  return new NodeletError(kind === "resourceExhausted" ? kind : "unavailable", `${what}: ${message}`, { cause: error });
}

/** Without user and password, which must not reach a log. */
function printableUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null) return JSON.stringify(text.replace(/\/\/[^/@]*@/, "//***@")).slice(0, 500);
  if (url.username !== "" || url.password !== "") url.username = "***";
  url.password = "";
  return url.href;
}
