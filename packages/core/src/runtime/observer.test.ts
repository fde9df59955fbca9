import { InMemoryContainerLogs, InMemoryPodFiles, InMemoryRuntime, silentLogger, VirtualClock } from "@nodelet/testkit";
import { describe, expect, it } from "vitest";
import type { RuntimeService } from "../ports/runtime-service.ts";
import type { SandboxConfig } from "../ports/runtime-types.ts";
import { Observer } from "./observer.ts";

const POD = { uid: "u1", name: "web", namespace: "default" };
const SANDBOX: SandboxConfig = {
  metadata: { name: "web", namespace: "default", uid: "u1", attempt: 0 },
  hostname: "web",
  logDirectory: "",
  portMappings: [],
  labels: {
    "io.kubernetes.pod.uid": "u1",
    "io.kubernetes.pod.name": "web",
    "io.kubernetes.pod.namespace": "default",
  },
  annotations: {},
} as unknown as SandboxConfig;

/** An observer of a runtime with one sandbox, some of whose calls the test lays hands on. */
async function fixture(decorate: (runtime: InMemoryRuntime) => Partial<RuntimeService>) {
  const clock = new VirtualClock();
  const runtime = new InMemoryRuntime({ clock });
  const sandboxId = await runtime.runSandbox({ config: SANDBOX, runtimeHandler: "" });
  const decorated = new Proxy(runtime, {
    get: (target, name) => {
      const own = (decorate(target) as Record<PropertyKey, unknown>)[name];
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const files = new InMemoryPodFiles();
  const observer = new Observer({
    ports: {
      runtime: decorated,
      podFiles: files,
      containerLogs: new InMemoryContainerLogs({ files: files.files }),
      clock,
      logger: silentLogger,
    },
    callTimeoutMs: 120_000,
    events: true,
    isBusy: () => false,
    onChange: () => undefined,
  });
  const stop = new AbortController();
  const running = observer.run(stop.signal);
  return { clock, runtime, observer, sandboxId, stop, running };
}

describe("the observer", () => {
  it("takes nothing from a slow look for a pod that a later look found gone", async () => {
    let slow = true;
    const { clock, runtime, observer, sandboxId, stop } = await fixture((target) => ({
      sandboxStatus: async (request) => {
        const status = await target.sandboxStatus(request);
        if (slow) await new Promise<void>((resolve) => clock.setTimer(700, resolve));
        return status;
      },
    }));
    await clock.advance(100);
    slow = false;
    await runtime.removeSandbox({ sandboxId });
    expect((await observer.look(POD)).sandboxes).toEqual([]);
    // The relist's own look ends now: it began when the sandbox was there.
    await clock.advance(700);
    expect(observer.get(POD).sandboxes).toEqual([]);
    expect(observer.has("u1")).toBe(false);
    await clock.advance(5000);
    expect(observer.size).toBe(0);
    stop.abort();
  });

  it("knows that the runtime has something of a pod which it cannot look at", async () => {
    const { clock, observer, stop } = await fixture(() => ({ sandboxStatus: () => new Promise(() => undefined) }));
    await clock.advance(60_000);
    expect(observer.all()).toEqual([]);
    expect(observer.has("u1")).toBe(true);
    expect(observer.isLooked("u1")).toBe(false);
    stop.abort();
  });

  it.each(["capabilities", "watchContainerEvents", "listContainers", "sandboxStatus"] as const)(
    "ends when it is told to, be it that %s never answers",
    async (call) => {
      const { clock, stop, running } = await fixture(() => ({ [call]: () => new Promise<never>(() => undefined) }));
      await clock.advance(1000);
      stop.abort();
      await clock.settle();
      await expect(Promise.race([running.then(() => "ended"), clock.settle().then(() => "runs on")])).resolves.toBe(
        "ended",
      );
      expect(clock.pendingTimers).toBe(0);
    },
  );
});
