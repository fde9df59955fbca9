import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAgent, DirectoryPodSource, defaultAgentConfig, standalonePorts } from "@nodelet/core";
import { inMemoryPorts, MemoryLogger } from "@nodelet/testkit";
import { expect, it } from "vitest";
import { linuxPorts } from "./linux-ports.ts";
import { scratchFolders } from "./scratch.test-support.ts";

const scratch = scratchFolders();

const manifest = `
apiVersion: v1
kind: Pod
metadata: { name: web }
spec: { containers: [{ name: app, image: "localhost/app:1", command: [server] }] }
`;

it("is all that an agent needs of the machine: a pod from a real file runs, with its directories", async () => {
  const base = scratch();
  const places = {
    rootDir: join(base, "root"),
    podLogsDir: join(base, "logs/pods"),
    containerLinksDir: join(base, "logs/containers"),
  };
  const path = join(base, "manifests");
  mkdirSync(path);
  writeFileSync(join(path, "web.yaml"), manifest);
  const logger = new MemoryLogger();
  const machine = await linuxPorts({ ...places, logger });
  const memory = inMemoryPorts({ clock: machine.clock, images: { present: ["localhost/app:1"] } });
  const config = { ...defaultAgentConfig("node-1"), ...places };
  const source = new DirectoryPodSource({
    path,
    watch: machine.directoryWatch,
    clock: machine.clock,
    logger,
    nodeName: config.nodeName,
    fileCheckFrequencyMs: 100,
  });
  const ports = { ...memory, ...machine, ...standalonePorts({ logger }) };
  const agent = createAgent({ config, ports, sources: [source] });
  const stop = new AbortController();
  const running = agent.run(stop.signal);
  await expect.poll(() => agent.pods().map(({ status }) => status?.phase), { timeout: 10_000 }).toEqual(["Running"]);
  const [view] = agent.pods();
  const { uid = "", name } = view?.pod.metadata ?? {};
  expect(name).toBe("web-node-1");
  expect(statSync(join(places.rootDir, "pods", uid)).mode & 0o777).toBe(0o750);
  expect(statSync(join(places.podLogsDir, `default_${name}_${uid}`)).isDirectory()).toBe(true);
  expect(statSync(places.containerLinksDir).isDirectory()).toBe(true);
  stop.abort();
  await running;
});
