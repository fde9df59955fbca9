import { type CriContainerStatus, NodeletError, type RuntimeService } from "@nodelet/core";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "../clock/virtual-clock.ts";
import { drivenBy } from "../faults/driven-by.ts";
import { wrapMethods } from "../faults/wrap-methods.ts";
import { InMemoryHostFiles } from "../files/in-memory-host-files.ts";
import { InMemoryImages } from "../images/in-memory-images.ts";
import { InMemoryRuntime } from "../runtime/in-memory-runtime.ts";
import type { RuntimeFixture } from "./runtime-fixture.ts";
import { defineRuntimeServiceTests } from "./runtime-service-contract.ts";

type Override = Partial<{ [K in keyof RuntimeService]: (real: RuntimeService) => RuntimeService[K] }>;

function fixtureOf(override: Override): RuntimeFixture {
  const clock = new VirtualClock();
  const files = new InMemoryHostFiles();
  const images = new InMemoryImages({ clock, present: ["localhost/app:1"] });
  const real = drivenBy(new InMemoryRuntime({ clock, images, output: files }), {
    clock,
    except: ["watchContainerEvents"],
  });
  const runtime = wrapMethods<RuntimeService>(real, (name, method) => {
    const replace = override[name as keyof RuntimeService];
    return replace === undefined ? method : (replace(real) as typeof method);
  });
  return {
    runtime,
    images,
    presentImage: "localhost/app:1",
    absentImage: "localhost/absent:1",
    uniquePrefix: "sabotage",
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
      for (let turn = 0; !(await condition()); turn += 1) {
        if (turn > 50) throw new Error("the condition did not hold");
        await clock.advance(100);
      }
    },
  };
}

/** Titles of the tests that fail on a runtime with one fault in it. */
async function failuresOf(override: Override): Promise<readonly string[]> {
  const fixture = fixtureOf(override);
  const tests: { title: string; run: (fixture: RuntimeFixture) => Promise<void> }[] = [];
  defineRuntimeServiceTests((title, run) => tests.push({ title, run }));
  const failed: string[] = [];
  for (const { title, run } of tests) {
    await run(fixture).catch(() => failed.push(title));
  }
  return failed;
}

const changed = (change: (status: CriContainerStatus) => Partial<CriContainerStatus>): Override => ({
  containerStatus: (real) => async (request) => {
    const status = await real.containerStatus(request);
    return { ...status, ...change(status) };
  },
});
const rekinded = async <T>(call: Promise<T>): Promise<T> =>
  call.catch((error: unknown) => {
    throw new NodeletError("internal", NodeletError.from(error).message);
  });

const sabotages: readonly { readonly what: string; readonly override: Override; readonly caughtBy: string }[] = [
  {
    what: "stops nothing",
    override: { stopContainer: () => async () => {} },
    caughtBy: "a process that does not obey is killed after the grace: 137",
  },
  {
    what: "kills at once, without the grace",
    override: { stopContainer: (real) => (request) => real.stopContainer({ ...request, timeoutSeconds: 0 }) },
    caughtBy: "a process that obeys ends with its own exit code before the grace is over",
  },
  {
    what: "never kills, only signals",
    override: { stopContainer: (real) => (request) => real.stopContainer({ ...request, timeoutSeconds: 3_000 }) },
    caughtBy: "a grace of zero kills at once",
  },
  {
    what: "removes no container",
    override: { removeContainer: () => async () => {} },
    caughtBy: "removing a container removes a running one too, keeps its log and may be repeated",
  },
  {
    what: "does not know what it removed",
    override: {
      removeContainer: (real) => async (request) => {
        await real.containerStatus(request);
        await real.removeContainer(request);
      },
    },
    caughtBy: "starting a container that is not there fails, removing it succeeds, its status is notFound",
  },
  {
    what: "stops a sandbox only in name",
    override: { stopSandbox: () => async () => {} },
    caughtBy: "stopping a sandbox makes it NOTREADY, kills what runs in it and may be repeated",
  },
  {
    what: "has another kind for a taken sandbox",
    override: { runSandbox: (real) => (request) => rekinded(real.runSandbox(request)) },
    caughtBy: "name, namespace, UID and attempt of a sandbox are taken until it is removed",
  },
  {
    what: "has another kind for a taken container",
    override: { createContainer: (real) => (request) => rekinded(real.createContainer(request)) },
    caughtBy: "a container's name and attempt are taken in its pod until it is removed, exited or not",
  },
  {
    what: "has another kind for what is not there",
    override: { containerStatus: (real) => (request) => rekinded(real.containerStatus(request)) },
    caughtBy: "starting a container that is not there fails, removing it succeeds, its status is notFound",
  },
  {
    what: "hides that a process could not start",
    override: { startContainer: (real) => (request) => real.startContainer(request).catch(() => {}) },
    caughtBy:
      "a command that is not there leaves the container EXITED: StartError, 128, no start time, and the reason in words",
  },
  {
    what: "takes no notice of signals when it makes a sandbox",
    override: {
      runSandbox:
        (real) =>
        ({ config, runtimeHandler }) =>
          real.runSandbox({ config, runtimeHandler }),
    },
    caughtBy: "a sandbox whose signal has fired is not made",
  },
  {
    what: "takes no notice of a caller that gives up a stop",
    override: {
      stopContainer:
        (real) =>
        ({ signal: _signal, ...request }) =>
          real.stopContainer(request),
    },
    caughtBy: "a caller that gives up a stop is answered at once, and the container lives on",
  },
  {
    what: "ignores labels in a list",
    override: {
      listContainers:
        (real) =>
        ({ labels: _labels, ...request } = {}) =>
          real.listContainers(request),
    },
    caughtBy: "lists containers by id, sandbox, state and labels, exited ones included",
  },
  {
    what: "ignores the state in a list",
    override: {
      listSandboxes:
        (real) =>
        ({ state: _state, ...request } = {}) =>
          real.listSandboxes(request),
    },
    caughtBy: "lists sandboxes by id, state and labels, all filters together",
  },
  {
    what: "leaves exited containers out of a list",
    override: {
      listContainers: (real) => async (request) =>
        (await real.listContainers(request)).filter(({ state }) => state !== "CONTAINER_EXITED"),
    },
    caughtBy: "lists containers by id, sandbox, state and labels, exited ones included",
  },
  {
    what: "has no reason for an exit",
    override: changed(() => ({ reason: "" })),
    caughtBy: "a container that ends is EXITED with its code, its times, and reason Completed or Error",
  },
  {
    what: "tells a start time of a process that never started",
    override: changed(({ createdAtNs }) => ({ startedAtNs: createdAtNs })),
    caughtBy:
      "a command that is not there leaves the container EXITED: StartError, 128, no start time, and the reason in words",
  },
  {
    what: "gives out an address on the host network",
    override: {
      sandboxStatus: (real) => async (request) => ({ ...(await real.sandboxStatus(request)), ips: ["192.0.2.1"] }),
    },
    caughtBy: "a sandbox on the host network has no address of its own",
  },
  {
    what: "loses the event of the exit",
    override: {
      watchContainerEvents:
        (real) =>
        ({ onEvent, signal }) =>
          real.watchContainerEvents({
            onEvent: (event) => void (event.type === "CONTAINER_STOPPED_EVENT" || onEvent(event)),
            signal,
          }),
    },
    caughtBy: "container events tell a life in order where the runtime has them, else the watch is unsupported",
  },
];

describe("the RuntimeService contract catches a runtime that", () => {
  it.each(sabotages)("$what", async ({ override, caughtBy }) => {
    expect(await failuresOf(override)).toContain(caughtBy);
  });

  it("is given as it should be: nothing fails then", async () => {
    expect(await failuresOf({})).toEqual([]);
  });
});
