import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describeImageServiceContract, describeRuntimeServiceContract } from "@nodelet/testkit/contracts";
import { ProcessImages } from "./process-images.ts";
import { ProcessRuntime } from "./process-runtime.ts";

const shell = (script: string) => ["/bin/sh", "-c", script];

async function makeFixture() {
  const logs = await mkdtemp(join(tmpdir(), "own-runtime-"));
  const images = new ProcessImages({ "localhost/sh:1": "/bin/sh" });
  return {
    runtime: new ProcessRuntime({ images }),
    images,
    presentImage: "localhost/sh:1",
    absentImage: "localhost/absent:1",
    uniquePrefix: "own",
    commands: {
      obeysStop: shell("trap 'exit 0' TERM; while true; do sleep 0.1; done"),
      ignoresStop: shell("trap '' TERM; while true; do sleep 0.1; done"),
      exits: (exitCode: number) => shell(`exit ${exitCode}`),
      prints: (line: string) => ["/bin/echo", line],
      missing: ["/no/such/program"],
    },
    makeLogDirectory: async (podName: string) => {
      const path = join(logs, podName);
      await mkdir(path);
      return path;
    },
    readLog: (path: string) => readFile(path, "utf8"),
    waitFor: async (condition: () => Promise<boolean>) => {
      const endMs = performance.now() + 30_000;
      while (!(await condition())) {
        if (performance.now() > endMs) throw new Error("the condition did not hold within 30 s");
        await delay(20);
      }
    },
    cleanup: () => rm(logs, { recursive: true }),
  };
}

describeRuntimeServiceContract({ name: "ProcessRuntime", makeFixture });
describeImageServiceContract({ name: "ProcessImages", makeFixture });
