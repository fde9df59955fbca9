import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer as createTcpServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { HttpFetcher } from "./http-fetcher.ts";

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
});

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

async function serve(handler: Handler, host = "127.0.0.1"): Promise<string> {
  const server = createServer(handler);
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, host, done));
  return `http://${host}:${(server.address() as AddressInfo).port}`;
}

const get = (url: string, more: Partial<Parameters<HttpFetcher["get"]>[0]> = {}) =>
  new HttpFetcher().get({ url, headers: [], timeoutMs: 5_000, maxBytes: 1_000, ...more });

describe("HttpFetcher", () => {
  it("answers status and body, errors of the server too", async () => {
    const base = await serve((request, response) => {
      response.statusCode = request.url === "/missing" ? 404 : 200;
      response.end(`path ${request.url}`);
    });
    const found = await get(`${base}/pods?x=1`);
    expect({ ...found, body: Buffer.from(found.body).toString() }).toEqual({
      status: 200,
      statusText: "OK",
      body: "path /pods?x=1",
    });
    expect(await get(`${base}/missing`)).toMatchObject({ status: 404, statusText: "Not Found" });
  });

  it("sends the headers given, several of a name in order, a Host of its own", async () => {
    let seen: IncomingMessage | undefined;
    const base = await serve((request, response) => {
      seen = request;
      response.end();
    });
    await get(base, {
      headers: [
        ["X-A", "1"],
        ["x-a", "2"],
        ["Host", "pods.example"],
        ["User-Agent", "me"],
      ],
    });
    expect(seen?.headers["x-a"]).toBe("1, 2");
    expect(seen?.headers.host).toBe("pods.example");
    expect(seen?.headers["user-agent"]).toBe("me");
  });

  it("follows redirects and gives the headers to no other host", async () => {
    const seen: Record<string, string | undefined> = {};
    const other = await serve((request, response) => {
      seen[`other ${request.url}`] = request.headers.authorization;
      response.end("other");
    }, "127.0.0.2");
    const base = await serve((request, response) => {
      seen[`base ${request.url}`] = request.headers.authorization;
      const location = { "/": "/two", "/two": `${other}/x` }[request.url ?? ""];
      response.writeHead(302, { location }).end("moved");
    });
    const answer = await get(base, { headers: [["Authorization", "Bearer t"]] });
    expect(Buffer.from(answer.body).toString()).toBe("other");
    expect(seen).toEqual({ "base /": "Bearer t", "base /two": "Bearer t", "other /x": undefined });
  });

  it("follows ten redirects and no more, and none without a location", async () => {
    const base = await serve((request, response) => {
      const left = Number(request.url?.slice(1));
      response.writeHead(left === 0 ? 200 : 301, left === 0 ? {} : { location: `/${left - 1}` }).end();
    });
    expect(await get(`${base}/10`)).toMatchObject({ status: 200 });
    await expect(get(`${base}/11`)).rejects.toMatchObject({
      kind: "unavailable",
      message: /stopped after 10 redirects/,
    });
    const bare = await serve((_, response) => response.writeHead(302).end());
    expect(await get(bare)).toMatchObject({ status: 302 });
  });

  it("follows no redirect to a file", async () => {
    const base = await serve((_, response) => response.writeHead(302, { location: "file:///etc/passwd" }).end());
    await expect(get(base)).rejects.toMatchObject({ kind: "invalid" });
  });

  it("takes maxBytes and stops at one more, while the server goes on", async () => {
    const base = await serve((request, response) => {
      if (request.url === "/fits") return void response.end("x".repeat(1_000));
      const timer = setInterval(() => response.write("x".repeat(400)), 1);
      response.once("close", () => clearInterval(timer));
    });
    expect((await get(`${base}/fits`)).body).toHaveLength(1_000);
    await expect(get(`${base}/endless`)).rejects.toMatchObject({ kind: "resourceExhausted" });
  });

  it("gives up on a server that says nothing, or stops in the middle", async () => {
    const base = await serve((request, response) => {
      if (request.url === "/half") response.write("half");
    });
    await expect(get(base, { timeoutMs: 50 })).rejects.toMatchObject({ kind: "deadline" });
    await expect(get(`${base}/half`, { timeoutMs: 50 })).rejects.toMatchObject({ kind: "deadline" });
  });

  it("is cancelled by its signal", async () => {
    const base = await serve(() => {});
    const controller = new AbortController();
    const fetched = get(base, { signal: controller.signal });
    controller.abort();
    await expect(fetched).rejects.toMatchObject({ kind: "cancelled" });
    await expect(get(base, { signal: AbortSignal.abort() })).rejects.toMatchObject({ kind: "cancelled" });
  });

  it("calls broken answers and refused connections unavailable", async () => {
    const garbage = createTcpServer((socket) => socket.resume().end("nonsense\r\n\r\n"));
    await new Promise<void>((done) => garbage.listen(0, "127.0.0.1", done));
    const url = `http://127.0.0.1:${(garbage.address() as AddressInfo).port}`;
    await expect(get(url)).rejects.toMatchObject({ kind: "unavailable" });
    await new Promise((done) => garbage.close(done));
    await expect(get(url)).rejects.toMatchObject({ kind: "unavailable" });
    const cut = await serve((_, response) =>
      response.writeHead(200, { "content-length": 10 }).write("1", () => response.destroy()),
    );
    await expect(get(cut)).rejects.toMatchObject({ kind: "unavailable" });
  });

  it.each([
    ["not a url", []],
    ["ftp://host/x", []],
    ["http://127.0.0.1:1/", [["bad name", "x"]]],
    ["http://127.0.0.1:1/", [["x", "a\r\nInjected: b"]]],
  ] as const)("refuses %s with %j", async (url, headers) => {
    await expect(get(url, { headers })).rejects.toMatchObject({ kind: "invalid" });
  });

  it("keeps passwords out of messages", async () => {
    const failed = await get("http://user:secret@127.0.0.1:1/").catch((error: unknown) => String(error));
    expect(failed).toContain("127.0.0.1");
    expect(failed).not.toContain("secret");
    expect(await get("ht!tp://user:secret@host").catch(String)).not.toContain("secret");
  });
});
