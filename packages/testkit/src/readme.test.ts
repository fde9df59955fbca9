import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { describeRuntimeServiceContract } from "./contracts/index.ts";
import {
  drivenBy,
  FaultPlan,
  InMemoryHostFiles,
  InMemoryImages,
  InMemoryRuntime,
  SeededRandom,
  VirtualClock,
  withFaults,
} from "./index.ts";

// The examples of README.md, as they stand there but for the format.
const clock = new VirtualClock();
const files = new InMemoryHostFiles();
const images = new InMemoryImages({ clock, present: ["localhost/app:1"] });
const runtime = new InMemoryRuntime({
  clock,
  images,
  output: files,
  programs: [
    ({ argv, attempt }) =>
      argv[0] === "crash-once" ? { exit: { afterMs: 5_000, exitCode: attempt === 0 ? 1 : 0 } } : undefined,
  ],
});

it("runs the first example", async () => {
  const sandboxConfig = { metadata: { name: "web", namespace: "default", uid: "u1", attempt: 0 } };
  const sandboxId = await runtime.runSandbox({ config: sandboxConfig, runtimeHandler: "" });
  const config = {
    metadata: { name: "app", attempt: 0 },
    image: { image: "localhost/app:1" },
    command: ["crash-once"],
  };
  const containerId = await runtime.createContainer({ sandboxId, config, sandboxConfig });
  await runtime.startContainer({ containerId });

  await clock.advance(5_000);
  const { state, exitCode, reason } = await runtime.containerStatus({ containerId });
  expect([state, exitCode, reason]).toEqual(["CONTAINER_EXITED", 1, "Error"]);
});

it("runs the example of faults", async () => {
  const plan = new FaultPlan({
    clock,
    random: new SeededRandom("seed 42"),
    rules: [
      { calls: ["createContainer"], times: 1, fault: { kind: "lostAnswer" } },
      {
        calls: ["containerStatus", "listContainers"],
        probability: 0.05,
        fault: { kind: "error", error: "unavailable" },
      },
      { probability: 0.01, fault: { kind: "delay", delayMs: { minMs: 100, maxMs: 5_000 } } },
    ],
  });
  const faulty = withFaults(runtime, plan);
  for (let turn = 0; turn < 200; turn += 1) await clock.drive(faulty.listContainers().catch(() => []));
  expect(plan.records.map(({ call }) => call)).toContain("listContainers");
});

runtime.setCondition({ type: "NetworkReady", status: false, reason: "", message: "" });
describeRuntimeServiceContract({
  name: "my runtime",
  deviations: {
    "tells its two conditions, and a fixture's runtime is ready": "my network is never ready",
  },
  makeFixture: () => ({
    runtime: drivenBy(runtime, { clock, except: ["watchContainerEvents"] }),
    images,
    presentImage: "localhost/app:1",
    absentImage: "localhost/absent:1",
    uniquePrefix: "mine",
    commands: {
      obeysStop: ["sh", "-c", "trap 'exit 0' TERM; while true; do sleep 0.1; done"],
      ignoresStop: ["sleep", "3600"],
      exits: (exitCode) => ["sh", "-c", `exit ${exitCode}`],
      prints: (line) => ["echo", line],
      missing: ["/no/such/program"],
    },
    makeLogDirectory: async (podName) => `/var/log/pods/${podName}`,
    readLog: async (path) => files.read(path) ?? "",
    waitFor: async (condition) => {
      while (!(await condition())) await clock.advance(100);
    },
  }),
});

it("holds every statement of the README's examples", () => {
  const squeeze = (text: string) => text.replace(/[\s,]/g, "");
  const own = squeeze(readFileSync(new URL(import.meta.url), "utf8"));
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const blocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, block = ""]) => block);
  expect(blocks.length).toBe(3);
  const statements = blocks.flatMap((block) => block.split(/;\n/).map((text) => text.replace(/^\/\/.*$/gm, "").trim()));
  for (const statement of statements.filter((text) => text !== "" && !text.startsWith("import "))) {
    expect(own).toContain(squeeze(statement));
  }
});
