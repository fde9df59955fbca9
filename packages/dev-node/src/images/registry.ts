import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ImageArchive } from "./oci-archive.ts";

/** How {@link startRegistry} serves. */
export interface RegistryOptions {
  /** Images are served under the path and tag of each of their names: "localhost/team/app:1" as "team/app:1". */
  archive: ImageArchive;
  /** Credentials that every request must carry (HTTP Basic); others get 401. Default: none asked for. */
  credentials?: { username: string; password: string };
  /** Each blob's answer waits for this long. Default 0. */
  blobDelayMs?: number;
}

/** A registry that runs. */
export interface Registry {
  /** "localhost:40123": runtimes speak plain HTTP to this host name. */
  host: string;
  /** What was asked for so far, "GET /v2/app/manifests/1 200", in the order of the answers. */
  requests: readonly string[];
  close(): Promise<void>;
}

/**
 * A small image registry on the loopback interface that only gives (distribution-spec: pull), for tests of image pulls
 * on machines that reach no other.
 */
export async function startRegistry(options: RegistryOptions): Promise<Registry> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    response.on("finish", () => requests.push(`${request.method} ${request.url} ${response.statusCode}`));
    answer({ options, request, response });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: "127.0.0.1", port: 0 }, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { host: `localhost:${port}`, requests, close };
}

interface Exchange {
  options: RegistryOptions;
  request: IncomingMessage;
  response: ServerResponse;
}

function answer({ options, request, response }: Exchange): void {
  const url = request.url ?? "";
  if (!isAllowed(options, request)) {
    response.writeHead(401, { "www-authenticate": 'Basic realm="nodelet"' }).end();
    return;
  }
  const [, name, kind, reference] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/?]+)/.exec(url) ?? [];
  if (/^\/v2\/?$/.test(url)) {
    response.writeHead(200, { "docker-distribution-api-version": "registry/2.0" }).end();
    return;
  }
  const digest = kind === "manifests" ? findManifest({ options, name, reference }) : reference;
  const data = digest === undefined ? undefined : options.archive.blobs.get(digest);
  if (data === undefined || digest === undefined || (request.method !== "GET" && request.method !== "HEAD")) {
    const code = kind === "manifests" ? "MANIFEST_UNKNOWN" : "BLOB_UNKNOWN";
    const body = JSON.stringify({ errors: [{ code, message: `${name}:${reference} is not here` }] });
    response.writeHead(404, { "content-type": "application/json" }).end(body);
    return;
  }
  const type = kind === "manifests" ? "application/vnd.oci.image.manifest.v1+json" : "application/octet-stream";
  const headers = { "content-type": type, "content-length": data.length, "docker-content-digest": digest };
  const send = (): void => {
    response.writeHead(200, headers).end(request.method === "HEAD" ? undefined : data);
  };
  if (kind === "blobs" && options.blobDelayMs !== undefined) {
    setTimeout(send, options.blobDelayMs);
  } else {
    send();
  }
}

function isAllowed(options: RegistryOptions, request: IncomingMessage): boolean {
  const { credentials } = options;
  if (credentials === undefined) {
    return true;
  }
  const expected = Buffer.from(`${credentials.username}:${credentials.password}`).toString("base64");
  return request.headers.authorization === `Basic ${expected}`;
}

function findManifest(options: { options: RegistryOptions; name?: string; reference?: string }): string | undefined {
  const { name, reference } = options;
  const image = options.options.archive.images.find((each) =>
    each.names.some((full) => {
      const [path = "", tag] = full.slice(full.indexOf("/") + 1).split(":");
      return path === name && (tag === reference || each.manifestDigest === reference);
    }),
  );
  return image?.manifestDigest;
}
