import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, defaultAgentConfig, ProgrammaticPodSource, standalonePorts } from "@nodelet/core";
import { linuxPorts } from "@nodelet/host-adapter";
import { InMemoryCgroups, silentLogger } from "@nodelet/testkit";
import { ProcessImages } from "./process-images.ts";
import { ProcessRuntime } from "./process-runtime.ts";

// An agent whose containers are processes of this machine: one pod is started, shown, deleted; then everything is gone again.
const base = await mkdtemp(join(tmpdir(), "own-runtime-"));
const places = {
  rootDir: join(base, "root"),
  podLogsDir: join(base, "pods"),
  containerLinksDir: join(base, "containers"),
};
const machine = await linuxPorts({ ...places, logger: silentLogger });
const images = new ProcessImages({ "localhost/sh:1": "/bin/sh" });
const runtime = new ProcessRuntime({ images });
const config = { ...defaultAgentConfig("own-node"), ...places };
const source = new ProgrammaticPodSource({ ...machine, nodeName: config.nodeName });
const agent = createAgent({
  config,
  ports: {
    ...machine,
    ...standalonePorts(machine),
    statusSink: source.statusSink,
    cgroups: new InMemoryCgroups(),
    runtime,
    images,
  },
  sources: [source],
});

const script = 'trap "exit 0" TERM; echo "I run at $POD_IP"; while true; do sleep 0.1; done';
const env = [{ name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } }];
const container = { name: "app", image: "localhost/sh:1", command: ["/bin/sh", "-c", script], env };

const stop = new AbortController();
const running = agent.run(stop.signal);
source.apply({ metadata: { name: "hello" }, spec: { containers: [container] } });
await change(() => agent.pods()[0]?.status?.phase === "Running");
const [row] = await runtime.listContainers();
const { logPath } = await runtime.containerStatus({ containerId: row?.id ?? "" });
let log = "";
while (!log.includes("\n")) log = await readFile(logPath, "utf8").catch(() => "");
console.log(`hello is Running: ${log.trim()}`);
source.delete({ name: "hello" });
await change(() => agent.pods().length === 0);
console.log(`hello is gone, and ${(await runtime.listSandboxes()).length} sandboxes are left`);
stop.abort();
await running;
await rm(base, { recursive: true });

/** Waits until the condition holds, looking again whenever something about a pod changed. */
async function change(condition: () => boolean): Promise<void> {
  await new Promise<void>((resolve) => {
    const look = () => {
      if (!condition()) return;
      unsubscribe();
      resolve();
    };
    const unsubscribe = agent.onPodChange(look);
  });
}
