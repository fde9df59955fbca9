import type { RequestOptions } from "node:http";
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { NodeletServerData } from "../data/server-data.ts";
import { ask, fakeData, fakeLogger, podNamed } from "../server.test-support.ts";
import type { HttpListener } from "./http-listener.ts";
import { createHealthListener, createReadOnlyListener } from "./listeners.ts";

const open: HttpListener[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((listener) => listener.close()));
});

async function started(listener: HttpListener) {
  open.push(listener);
  const { port } = await listener.listen({ host: "127.0.0.1", port: 0 });
  return { port, get: (path: string, more: RequestOptions & { body?: string } = {}) => ask({ port, path, ...more }) };
}

const readOnly = async (changes: Partial<NodeletServerData> = {}) => {
  const logger = fakeLogger();
  return { logger, ...(await started(createReadOnlyListener({ data: fakeData(changes), logger }))) };
};

describe("health listener", () => {
  it("answers ok, and knows nothing else", async () => {
    const { get } = await started(createHealthListener({ logger: fakeLogger() }));
    for (const path of ["/healthz", "/healthz/ping"]) {
      const { status, text, headers } = await get(path);
      expect({ status, text, type: headers["content-type"] }).toEqual({
        status: 200,
        text: "ok",
        type: "text/plain; charset=utf-8",
      });
    }
    for (const path of ["/", "/pods", "/healthz/syncloop", "/healthz/", "/healthz/../pods"]) {
      expect(await get(path)).toMatchObject({ status: 404, text: "404 page not found\n" });
    }
  });
});

describe("/healthz of the read-only listener", () => {
  const failing = { healthChecks: () => [{ name: "syncloop", check: () => "the loop was entered 11m0s ago" }] };

  // Texts of upstream's health handler.
  it.each([
    ["/healthz", 200, "ok"],
    ["/healthz?verbose", 200, "[+]ping ok\n[+]syncloop ok\nhealthz check passed\n"],
    ["/healthz?verbose=false&exclude=ping", 200, "[+]ping excluded: ok\n[+]syncloop ok\nhealthz check passed\n"],
    [
      "/healthz?verbose&exclude=x%22y",
      200,
      '[+]ping ok\n[+]syncloop ok\nwarn: some health checks cannot be excluded: no matches for "x\\"y"\nhealthz check passed\n',
    ],
    ["/healthz/syncloop", 200, "ok"],
    ["/healthz/other", 404, "404 page not found\n"],
  ])("%s of a well agent", async (path, status, text) => {
    const { get } = await readOnly();
    expect(await get(path)).toMatchObject({ status, text });
  });

  it.each([
    ["/healthz", 500, "[+]ping ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n"],
    ["/healthz?exclude=syncloop", 200, "ok"],
    ["/healthz/syncloop", 500, "internal server error: the loop was entered 11m0s ago\n"],
    ["/healthz/ping", 200, "ok"],
  ])("%s of an agent whose loop hangs", async (path, status, text) => {
    const { get } = await readOnly(failing);
    expect(await get(path)).toMatchObject({ status, text });
  });

  it("takes any method, and a check that throws as one that fails", async () => {
    const { get } = await readOnly();
    expect(await get("/healthz", { method: "POST", body: "x" })).toMatchObject({ status: 200, text: "ok" });
    expect(await get("/healthz", { method: "HEAD" })).toMatchObject({ status: 200, text: "" });
    const broken = await readOnly({
      healthChecks: () => [
        {
          name: "syncloop",
          check: () => {
            throw new Error("trap");
          },
        },
      ],
    });
    expect(await broken.get("/healthz/syncloop")).toMatchObject({ status: 500, text: "internal server error: trap\n" });
  });
});

describe("/pods", () => {
  it("is a PodList", async () => {
    const { get } = await readOnly();
    const { status, text, headers } = await get("/pods");
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("application/json");
    expect(JSON.parse(text)).toEqual({
      kind: "PodList",
      apiVersion: "v1",
      metadata: {},
      items: [podNamed("web"), podNamed("db")],
    });
    const empty = await readOnly({ pods: () => [] });
    expect(JSON.parse((await empty.get("/pods")).text)).toMatchObject({ items: [] });
  });

  it("keeps integers beyond 2^53", async () => {
    const pod = { spec: { activeDeadlineSeconds: 9_223_372_036_854_775_807n, containers: [] } };
    const { get } = await readOnly({ pods: () => [pod] });
    expect((await get("/pods")).text).toContain('"activeDeadlineSeconds":9223372036854775807');
  });

  it("streams long lists while others are served", async () => {
    const many = Array.from({ length: 20_000 }, (_, index) => podNamed(`pod-${index}-${"x".repeat(400)}`));
    const { get } = await readOnly({ pods: () => many });
    const order: string[] = [];
    const long = get("/pods").then((answer) => (order.push("pods"), answer));
    const short = get("/healthz").then(() => order.push("healthz"));
    await Promise.all([long, short]);
    expect(order).toEqual(["healthz", "pods"]);
    expect((JSON.parse((await long).text) as { items: unknown[] }).items).toHaveLength(20_000);
  });

  it("survives a client that goes away in the middle", async () => {
    const many = Array.from({ length: 20_000 }, (_, index) => podNamed(`pod-${index}-${"x".repeat(400)}`));
    const { port, get, logger } = await readOnly({ pods: () => many });
    const socket = connect({ port, host: "127.0.0.1" });
    socket.write("GET /pods HTTP/1.1\r\nhost: x\r\n\r\n");
    await new Promise((done) => socket.once("data", done));
    socket.destroy();
    expect(await get("/healthz")).toMatchObject({ status: 200 });
    expect(logger.errors).toEqual([]);
  });

  it.each(["POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"])("is not for %s", async (method) => {
    const { get } = await readOnly();
    const { status, headers } = await get("/pods", { method });
    expect(status).toBe(405);
    expect(headers.allow).toBe("GET");
  });
});

describe("what changes something, or needs a name and a password", () => {
  it.each([
    "/run/ns/p/c",
    "/exec/ns/p/c",
    "/attach/ns/p/c",
    "/portForward/ns/p",
    "/containerLogs/ns/p/c",
    "/runningpods/",
    "/logs/",
    "/logs",
    "/debug/pprof/profile",
  ])("%s is refused", async (path) => {
    const { get } = await readOnly();
    for (const method of ["GET", "POST"]) {
      expect(await get(path, { method })).toMatchObject({ status: 405, text: "Debug endpoints are disabled.\n" });
    }
  });

  it.each([
    "/checkpoint/ns/p/c",
    "/configz",
    "/flagz",
    "/statusz",
    "/debug/flags/v",
    "/stop",
    "/decisions",
    "/config",
    "/status",
  ])("%s is absent", async (path) => {
    const { get } = await readOnly();
    for (const method of ["GET", "POST", "PUT"]) expect(await get(path, { method })).toMatchObject({ status: 404 });
  });

  it.each(["/pods/../logs/x", "/pods/", "//pods", "/./pods", "/%2e%2e/pods", "/pods%00", "/%zz", "/pods%2f..%2flogs"])(
    "%s finds nothing",
    async (path) => {
      const { get } = await readOnly();
      const { status } = await get(path);
      expect([400, 404]).toContain(status);
    },
  );
});

describe("bounds", () => {
  it("refuses oversized headers", async () => {
    const { get } = await readOnly();
    expect(await get("/healthz", { headers: { big: "x".repeat(70_000) } })).toMatchObject({ status: 431 });
  });

  it("reads no body: the connection ends with the answer", async () => {
    const { port } = await readOnly();
    const socket = connect({ port, host: "127.0.0.1" });
    socket.write(`POST /pods HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000000\r\n\r\n${"x".repeat(1000)}`);
    const text = await new Promise<string>((resolve) => {
      let all = "";
      socket.on("data", (chunk) => (all += String(chunk)));
      socket.once("close", () => resolve(all));
    });
    expect(text).toMatch(/^HTTP\/1\.1 405 /);
    expect(text.toLowerCase()).toContain("connection: close");
  });

  it("answers what fails inside with 500 and keeps the reason for the log", async () => {
    const { get, logger } = await readOnly({
      pods: () => {
        throw new Error("secret detail");
      },
    });
    expect(await get("/pods")).toMatchObject({ status: 500, text: "Internal Error\n" });
    expect(logger.errors).toEqual(["An HTTP request failed"]);
  });

  it("answers bad requests and stays up", async () => {
    const { port, get } = await readOnly();
    const socket = connect({ port, host: "127.0.0.1" });
    socket.write("nonsense\r\n\r\n");
    const text = await new Promise<string>((resolve) => socket.once("data", (data) => resolve(String(data))));
    socket.destroy();
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(await get("*")).toMatchObject({ status: 400 });
    expect(await get("http://elsewhere/pods")).toMatchObject({ status: 400 });
    expect(await get("/healthz")).toMatchObject({ status: 200 });
  });
});

describe("listening", () => {
  it("says who is in the way", async () => {
    const { port } = await readOnly();
    const second = createHealthListener({ logger: fakeLogger() });
    await expect(second.listen({ host: "127.0.0.1", port })).rejects.toMatchObject({
      kind: "alreadyExists",
      message: expect.stringContaining(
        `the health listener cannot use 127.0.0.1:${port}: another process listens there`,
      ),
    });
    await expect(second.listen({ host: "203.0.113.1", port: 0 })).rejects.toMatchObject({ kind: "invalid" });
  });

  it("is tried again when asked to, and given up when closed", async () => {
    const { port } = await readOnly();
    const logger = fakeLogger();
    const second = createHealthListener({ logger });
    await second.keepListening({ host: "127.0.0.1", port });
    expect(logger.errors).toEqual(["A listener could not start and is tried again"]);
    await second.close();
  });

  it("ends idle connections at once and frees the port", async () => {
    const listener = createHealthListener({ logger: fakeLogger() });
    const { port } = await listener.listen({ host: "127.0.0.1", port: 0 });
    const socket = connect({ port, host: "127.0.0.1" });
    socket.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
    await new Promise((done) => socket.once("data", done));
    const closed = new Promise((done) => socket.once("close", done));
    await listener.close();
    await listener.close();
    await closed;
    await expect(ask({ port, path: "/healthz" })).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});
