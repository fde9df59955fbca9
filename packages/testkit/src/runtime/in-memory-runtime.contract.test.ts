import { VirtualClock } from "../clock/virtual-clock.ts";
import {
  type ContractCommands,
  describeImageServiceContract,
  describeRuntimeServiceContract,
  type RuntimeFixture,
} from "../contracts/index.ts";
import { drivenBy } from "../faults/driven-by.ts";
import { FaultPlan } from "../faults/fault-plan.ts";
import { recordCalls } from "../faults/record-calls.ts";
import { withFaults } from "../faults/with-faults.ts";
import { InMemoryHostFiles } from "../files/in-memory-host-files.ts";
import { InMemoryImages } from "../images/in-memory-images.ts";
import { SeededRandom } from "../random/seeded-random.ts";
import { InMemoryRuntime } from "./in-memory-runtime.ts";
import { containerdLatency, type InMemoryRuntimeOptions } from "./runtime-options.ts";

const commands: ContractCommands = {
  obeysStop: ["sh", "-c", "trap 'exit 0' TERM; while true; do sleep 0.1; done"],
  ignoresStop: ["sleep", "3600"],
  exits: (exitCode) => ["sh", "-c", `exit ${exitCode}`],
  prints: (line) => ["sh", "-c", `echo ${line}`],
  missing: ["/no/such/program"],
};

function inMemoryFixture(
  options: Partial<InMemoryRuntimeOptions> & { readonly decorated?: boolean } = {},
): RuntimeFixture {
  const clock = new VirtualClock();
  const random = new SeededRandom("contract");
  const files = new InMemoryHostFiles();
  const images = new InMemoryImages({
    clock,
    random: random.fork("images"),
    present: ["localhost/busybox:1.35"],
    pullable: ["registry.example.com/team/app:2"],
    pullMs: () => 5_000,
  });
  const runtime = new InMemoryRuntime({ clock, random, images, output: files, ...options });
  const decorate = <T extends object>(port: T): T => {
    const plan = new FaultPlan({ clock, random: random.fork("faults") });
    return options.decorated ? withFaults(recordCalls(port, { clock }).port, plan) : port;
  };
  const driven = drivenBy(decorate(runtime), { clock, except: ["watchContainerEvents"] });
  return {
    runtime: driven,
    images: drivenBy(decorate(images), { clock }),
    presentImage: "localhost/busybox:1.35",
    absentImage: "localhost/absent:1",
    pullableImage: "registry.example.com/team/app:2",
    uniquePrefix: "contract",
    commands,
    makeLogDirectory: async (podName) => {
      files.makeDirectory(`/var/log/pods/${podName}`);
      return `/var/log/pods/${podName}`;
    },
    readLog: async (path) => files.read(path) ?? "",
    waitFor: async (condition) => {
      for (let passedMs = 0; !(await condition()); passedMs += 100) {
        if (passedMs > 30_000) throw new Error("the condition did not hold within 30 virtual seconds");
        await clock.advance(100);
      }
    },
  };
}

describeRuntimeServiceContract({ name: "InMemoryRuntime", makeFixture: () => inMemoryFixture() });
describeImageServiceContract({ name: "InMemoryImages", makeFixture: () => inMemoryFixture() });

describeRuntimeServiceContract({
  name: "InMemoryRuntime like containerd 1.6",
  makeFixture: () => inMemoryFixture({ likeContainerd: "1.6" }),
});

describeRuntimeServiceContract({
  name: "InMemoryRuntime with latencies, behind a recorder and a fault plan without rules",
  makeFixture: () => inMemoryFixture({ decorated: true, latencyMs: containerdLatency(new SeededRandom("latency")) }),
});
describeImageServiceContract({
  name: "InMemoryImages behind a recorder and a fault plan without rules",
  makeFixture: () => inMemoryFixture({ decorated: true }),
});
