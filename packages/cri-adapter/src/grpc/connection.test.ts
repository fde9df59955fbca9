import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { adapterFor, cleanUpLater, connected, failureOf, setUp, signalled } from "../cri-adapter.test-support.ts";
import { ScriptedRuntime, silence, versionAnswer } from "../scripted-runtime.test-support.ts";

describe("a runtime that goes away", () => {
  it("breaks a look (unavailable) and a change (outcome not known), and is reached again when it is back", async () => {
    let both = 0;
    const { seen: started, notify: arrived } = signalled();
    const hang = (): Promise<never> => {
      both += 1;
      if (both === 2) arrived();
      return silence();
    };
    const setup = await setUp({ containerStatus: hang, startContainer: hang });
    const look = failureOf(setup.adapter.runtime.containerStatus({ containerId: "c" }));
    const change = failureOf(setup.adapter.runtime.startContainer({ containerId: "c" }));
    await started;
    setup.server.stop();
    expect(await look).toMatchObject({ kind: "unavailable" });
    expect(await change).toMatchObject({
      kind: "unknownOutcome",
      message: expect.stringContaining("whether it acted is not known") as string,
    });
    // While nothing is there, calls fail at once and nothing was done.
    expect(await failureOf(setup.adapter.runtime.startContainer({ containerId: "c" }))).toMatchObject({
      kind: "unavailable",
      message: `container runtime at ${setup.server.endpoint}: there is no such socket. Is the runtime running, and is this its endpoint?`,
    });
    await setup.server.serve({ version: () => versionAnswer });
    await expect
      .poll(
        () =>
          setup.adapter.runtime.version().then(
            (version) => version.runtimeName,
            () => undefined,
          ),
        { timeout: 5000 },
      )
      .toBe("scripted");
  });

  it("by our own closing ends what runs and refuses what comes", async () => {
    const setup = await setUp({ containerStatus: silence });
    await connected(setup);
    const running = failureOf(setup.adapter.runtime.containerStatus({ containerId: "c" }));
    await setup.clock.settle();
    setup.adapter.close();
    setup.adapter.close();
    const closed = { kind: "unavailable", message: `the connection to ${setup.server.endpoint} was closed` };
    expect(await running).toMatchObject(closed);
    expect(await failureOf(setup.adapter.runtime.version())).toMatchObject(closed);
    expect(setup.clock.pendingTimers).toBe(0);
  });
});

describe("what is not a CRI v1 runtime", () => {
  const rawServer = async (onConnection: (server: Server) => void): Promise<string> => {
    const directory = mkdtempSync(join(tmpdir(), "nodelet-cri-"));
    const path = join(directory, "x.sock");
    const server = createServer();
    onConnection(server);
    await new Promise<void>((resolve) => server.listen(path, resolve));
    cleanUpLater(() => {
      server.close();
      rmSync(directory, { recursive: true, force: true });
    });
    return path;
  };

  it("an absent socket", async () => {
    const { adapter } = adapterFor("unix:///nonexistent/runtime.sock");
    expect(await failureOf(adapter.runtime.version())).toMatchObject({
      kind: "unavailable",
      message:
        "container runtime at unix:///nonexistent/runtime.sock: there is no such socket. Is the runtime running, and is this its endpoint?",
    });
  });

  it("a path that is no socket", async () => {
    const path = await rawServer(() => {});
    writeFileSync(`${path}.txt`, "text");
    const { adapter } = adapterFor(`unix://${path}.txt`);
    // Linux answers ECONNREFUSED to connect(2) on a file that is no socket.
    expect((await failureOf(adapter.runtime.version())).message).toMatch(/nobody listens on the socket/);
  });

  it("a server of something else than HTTP/2", async () => {
    const path = await rawServer((server) =>
      server.on("connection", (socket) => {
        socket.on("error", () => {});
        socket.end("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
      }),
    );
    const failure = await failureOf(adapterFor(`unix://${path}`).adapter.runtime.version());
    expect(failure).toMatchObject({
      kind: "unavailable",
      // Without the time of the try: what is told once must not read as new at each.
      message: `container runtime at unix://${path}: what listens there does not speak gRPC, so it is not a CRI server (No connection established. Last error: Protocol error)`,
    });
  });

  it("a server that accepts and says nothing runs into the deadline", async () => {
    const sockets: { destroy(): void }[] = [];
    const path = await rawServer((server) => server.on("connection", (socket) => sockets.push(socket)));
    cleanUpLater(() => sockets.forEach((socket) => socket.destroy()));
    const { adapter, clock } = adapterFor(`unix://${path}`);
    const failure = failureOf(adapter.runtime.version());
    await expect.poll(() => clock.pendingTimers).toBe(1);
    await clock.advance(120_000);
    expect(await failure).toMatchObject({ kind: "deadline" });
  });

  it("a runtime that speaks only v1alpha2", async () => {
    const server = await ScriptedRuntime.start({ version: () => versionAnswer }, { packageName: "runtime.v1alpha2" });
    cleanUpLater(() => server.close());
    expect(await failureOf(adapterFor(server.endpoint).adapter.runtime.version())).toMatchObject({
      kind: "unsupported",
      message: `the server at ${server.endpoint} speaks CRI v1alpha2 only, and v1 is needed: containerd 1.6 or CRI-O 1.23 and later have it`,
    });
  });

  it("another gRPC server", async () => {
    const server = await ScriptedRuntime.start({});
    cleanUpLater(() => server.close());
    expect(await failureOf(adapterFor(server.endpoint).adapter.runtime.version())).toMatchObject({
      kind: "unsupported",
      message: expect.stringMatching(/speaks gRPC but does not offer CRI v1/) as string,
    });
  });
});
