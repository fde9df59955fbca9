import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { NodeletServerData } from "../data/server-data.ts";
import { ask, fakeData, fakeLogger, podNamed, scratchFolders } from "../server.test-support.ts";
import { ControlClient } from "./control-client.ts";
import { ControlSocket } from "./control-socket.ts";

const scratch = scratchFolders();
const open: ControlSocket[] = [];
let folder: string;
let path: string;

beforeEach(() => {
  folder = scratch();
  path = join(folder, "nodelet.sock");
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((socket) => socket.close()));
});

const make = (changes: Partial<NodeletServerData> = {}, at = path) => {
  const data = fakeData(changes);
  const socket = new ControlSocket({ path: at, data, logger: fakeLogger() });
  open.push(socket);
  return { socket, data, client: new ControlClient({ socketPath: at }) };
};

describe("client and socket", () => {
  it("speak of pods, decisions, configuration and status", async () => {
    const { socket, client, data } = make();
    await socket.listen();
    expect(await client.pods()).toEqual([podNamed("web"), podNamed("db")]);
    expect(await client.decisions()).toMatchObject([{ seq: 1, action: "start" }]);
    await client.decisions({ pod: "default/we b&x=1" });
    expect(data.asked).toEqual(["{}", '{"pod":"default/we b&x=1"}']);
    expect(await client.config()).toEqual({ nodeName: "n1", big: 9_223_372_036_854_775_807n });
    expect(await client.status()).toEqual({ ready: true });
    expect(await ask({ socketPath: path, path: "/healthz/syncloop" })).toMatchObject({ status: 200, text: "ok" });
  });

  it("stop the agent after the answer, by POST alone", async () => {
    const { socket, client, data } = make();
    await socket.listen();
    expect(await ask({ socketPath: path, path: "/stop" })).toMatchObject({ status: 405, headers: { allow: "POST" } });
    expect(data.asked).toEqual([]);
    await client.stop();
    await expect.poll(() => data.asked).toEqual(["stop"]);
  });

  it("pass failures on as texts", async () => {
    const { socket, client } = make({
      status: () => {
        throw new Error("inside");
      },
    });
    await socket.listen();
    await expect(client.status()).rejects.toMatchObject({
      kind: "internal",
      message: "the agent answered 500: Internal Error",
    });
  });

  it("work under paths longer than a socket's address", async () => {
    const deep = join(folder, "d".repeat(200));
    mkdirSync(deep);
    const { socket, client } = make({}, join(deep, "nodelet.sock"));
    await socket.listen();
    expect(await client.status()).toEqual({ ready: true });
    await socket.close();
    expect(readdirSync(deep)).toEqual([]);
  });
});

describe("the file", () => {
  it("has mode 0600 whatever the umask is, and nothing stays beside it", async () => {
    const before = process.umask(0);
    try {
      await make().socket.listen();
    } finally {
      process.umask(before);
    }
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["nodelet.sock"]);
  });

  it("is gone after closing, twice", async () => {
    const { socket } = make();
    await socket.listen();
    await socket.close();
    await socket.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("replaces what a killed agent left, also in the middle of its start", async () => {
    const source = `require("net").createServer().listen(process.argv[1], () => console.log("up"))`;
    const child = spawn(process.execPath, ["-e", source, path], { stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((done) => child.stdout.once("data", done));
    const exited = new Promise((done) => child.once("exit", done));
    child.kill("SIGKILL");
    await exited;
    mkdirSync(join(folder, ".nodelet-sock-0011"));
    writeFileSync(join(folder, ".nodelet-sock-0011/s"), "");
    expect(statSync(path).isSocket()).toBe(true);
    const { socket, client } = make();
    await socket.listen();
    expect(await client.status()).toEqual({ ready: true });
    expect(readdirSync(folder)).toEqual(["nodelet.sock"]);
  });

  it("is not taken from a running agent, nor removed by the one that failed", async () => {
    await make().socket.listen();
    const second = make();
    await expect(second.socket.listen()).rejects.toMatchObject({
      kind: "conflict",
      message: /a running agent answers on it/,
    });
    await second.socket.close();
    expect(await second.client.status()).toEqual({ ready: true });
  });

  it.each([
    ["a file", () => writeFileSync(path, "precious")],
    ["a link", () => symlinkSync("/etc/passwd", path)],
    ["a directory", () => mkdirSync(path)],
  ])("is not made in place of %s", async (_, prepare) => {
    prepare();
    await expect(make().socket.listen()).rejects.toMatchObject({ kind: "conflict", message: /is not a socket/ });
    expect(readdirSync(folder)).toEqual(["nodelet.sock"]);
  });

  it("that another agent has put in its place stays when we close", async () => {
    const { socket } = make();
    await socket.listen();
    rmSync(path);
    const other = createServer();
    await new Promise<void>((done) => other.listen(path, done));
    await socket.close();
    expect(statSync(path).isSocket()).toBe(true);
    await new Promise((done) => other.close(done));
  });

  it("needs its directory", async () => {
    const { socket } = make({}, join(folder, "none/nodelet.sock"));
    await expect(socket.listen()).rejects.toMatchObject({ kind: "notFound" });
  });
});

describe("client without an agent", () => {
  it("says so", async () => {
    const { client } = make();
    await expect(client.pods()).rejects.toMatchObject({
      kind: "unavailable",
      message: /no agent listens on .*--root-dir/,
    });
    writeFileSync(path, "");
    await expect(client.pods()).rejects.toMatchObject({ kind: "unavailable" });
    const below = make({}, join(path, "nodelet.sock"));
    await expect(below.client.pods()).rejects.toMatchObject({
      kind: "unavailable",
      message: /no agent listens on .*--root-dir/,
    });
  });

  it("says when the socket is another user's", async () => {
    const { socket, client } = make();
    await socket.listen();
    chmodSync(folder, 0o755);
    process.seteuid?.(65_534);
    const refused = await client.pods().catch((error: unknown) => error);
    process.seteuid?.(0);
    expect(refused).toMatchObject({ kind: "permission", message: expect.stringContaining("try as root") });
  });

  it("refuses an answer that is not an agent's", async () => {
    const other = createServer((socket) => socket.resume().end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]"));
    await new Promise<void>((done) => other.listen(path, done));
    await expect(make().client.pods()).rejects.toMatchObject({ kind: "internal" });
    await new Promise((done) => other.close(done));
  });
});
