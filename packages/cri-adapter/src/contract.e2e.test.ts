import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ContainerdVersion, prepareNode, standardImages } from "@nodelet/dev-node";
import {
  type ContractCommands,
  describeImageServiceContract,
  describeRuntimeServiceContract,
  type RuntimeFixture,
} from "@nodelet/testkit/contracts";
import { createCriAdapter } from "./cri-adapter.ts";
import { realClock } from "./real-clock.test-support.ts";

const sh = (script: string): string[] => ["sh", "-c", script];
const commands: ContractCommands = {
  obeysStop: sh("trap 'exit 0' TERM; while :; do sleep 0.1; done"),
  ignoresStop: sh("trap '' TERM; while :; do sleep 0.1; done"),
  exits: (exitCode) => sh(`exit ${exitCode}`),
  prints: (line) => ["echo", line],
  missing: ["/no/such/command"],
};

/** Looks every 50 ms; a runtime that needs longer than 30 s for a step of a test has failed it. */
async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + 30_000;
  while (!(await condition())) {
    if (performance.now() > endMs) throw new Error("the condition did not come within 30 s");
    await sleep(50);
  }
}

/** The adapter on a private containerd of that version, with everything of both taken down by `cleanup`. */
async function makeFixture(version: ContainerdVersion): Promise<RuntimeFixture> {
  const scratch = await mkdtemp(join(tmpdir(), "nodelet-contract-"));
  const node = await prepareNode({ version, dir: join(scratch, "node") });
  const adapter = createCriAdapter({ runtimeEndpoint: node.endpoint, clock: realClock, requestTimeoutMs: 60_000 });
  return {
    runtime: adapter.runtime,
    images: adapter.images,
    presentImage: standardImages.busybox,
    absentImage: "localhost/absent:1",
    uniquePrefix: "contract",
    commands,
    linux: { cgroupParent: `/${node.containerd.cgroupRoot}/contract` },
    makeLogDirectory: async (podName) => {
      const directory = join(scratch, "logs", podName);
      await mkdir(directory, { recursive: true });
      return directory;
    },
    readLog: (path) => readFile(path, "utf8"),
    waitFor,
    cleanup: async () => {
      adapter.close();
      await node.close();
      await rm(scratch, { recursive: true, force: true });
    },
  };
}

for (const version of ["1.6", "2.1"] as const) {
  const options = { name: `containerd ${version} through cri-adapter`, makeFixture: () => makeFixture(version) };
  describeRuntimeServiceContract(options);
  describeImageServiceContract(options);
}
