import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { HttpHandler, ServedRequest } from "@nodelet/testkit";
import { describeDirectoryWatchContract, describeHttpFetchContract } from "@nodelet/testkit/contracts";
import { HttpFetcher } from "./http-fetcher.ts";
import { InotifyDirectoryWatch } from "./inotify-directory-watch.ts";

describeDirectoryWatchContract({
  name: "InotifyDirectoryWatch",
  makeFixture: async () => {
    const base = await realpath(await mkdtemp(join(tmpdir(), "nodelet-watch-")));
    let count = 0;
    const fresh = () => join(base, `place-${(count += 1)}`);
    return {
      watch: new InotifyDirectoryWatch(),
      makePlace: async () => {
        const path = fresh();
        await mkdir(path);
        return {
          path,
          write: ({ name, content }) => writeFile(join(path, name), content),
          remove: (name) => rm(join(path, name)),
        };
      },
      makeFile: async (content) => {
        const path = fresh();
        await writeFile(path, content);
        return path;
      },
      absentPath: join(base, "none"),
      waitFor: async (condition) => {
        const end = Date.now() + 15_000;
        while (!(await condition())) {
          if (Date.now() > end) throw new Error("the condition did not hold within 15 s");
          await delay(20);
        }
      },
      cleanup: () => rm(base, { recursive: true, force: true }),
    };
  },
});

describeHttpFetchContract({
  name: "HttpFetcher",
  makeFixture: async () => {
    const servers: Server[] = [];
    // Every address of 127.0.0.0/8 is this machine: a host of its own for each server.
    const serve = async (handler: HttpHandler): Promise<string> => {
      const host = `127.0.0.${servers.length + 2}`;
      const server = answeringServer(handler);
      servers.push(server);
      return `http://${host}:${await listen(server, host)}`;
    };
    const closed = createServer();
    const port = await listen(closed, "127.0.0.1");
    await new Promise((done) => closed.close(done));
    return {
      fetch: new HttpFetcher(),
      serve,
      refusingUrl: `http://127.0.0.1:${port}/`,
      cleanup: async () => {
        for (const server of servers) {
          server.closeAllConnections();
          await new Promise((done) => server.close(done));
        }
      },
    };
  },
});

function answeringServer(handler: HttpHandler): Server {
  return createServer((request, response) => {
    const headers: ServedRequest["headers"] = pairs(request.rawHeaders);
    const answer = handler({ url: `http://${request.socket.localAddress}${request.url}`, headers });
    if (answer === undefined) return;
    const { status = 200, location, body } = answer;
    response.writeHead(status, location === undefined ? {} : { location }).end(body);
  });
}

function listen(server: Server, host: string): Promise<number> {
  return new Promise((done) => server.listen(0, host, () => done((server.address() as AddressInfo).port)));
}

function pairs(flat: readonly string[]): [string, string][] {
  return flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? ""] as [string, string]] : []));
}
