import { describe, expect, it } from "vitest";
import { SeededRandom } from "../random/seeded-random.ts";
import type { LogLine } from "./container-output.ts";
import {
  containerConfig,
  IMAGE,
  newRuntime,
  outcomeOf,
  sandboxConfig,
  startedContainer,
} from "./runtime.test-support.ts";
import type { RuntimeChange } from "./runtime-change.ts";
import { containerdLatency } from "./runtime-options.ts";

describe("a container's life in memory", () => {
  it("goes from created over running to exited, with times of the clock", async () => {
    const { clock, runtime } = newRuntime();
    const startMs = clock.nowMs();
    const { containerId } = await startedContainer(runtime, { command: ["sh", "-c", "sleep 5; exit 3"] });
    await clock.advance(4_999);
    expect(await runtime.containerStatus({ containerId })).toMatchObject({
      state: "CONTAINER_RUNNING",
      finishedAtNs: 0n,
    });
    await clock.advance(1);
    const status = await runtime.containerStatus({ containerId });
    expect(status).toMatchObject({ state: "CONTAINER_EXITED", exitCode: 3, reason: "Error" });
    // Stamps made in one millisecond differ by nanoseconds.
    expect(Number(status.startedAtNs / 1_000_000n)).toBe(startMs);
    expect(Number(status.finishedAtNs / 1_000_000n)).toBe(startMs + 5_000);
  });

  it("kills after the grace what ignores the stop signal: 137", async () => {
    const { clock, runtime } = newRuntime();
    const { containerId } = await startedContainer(runtime, { command: ["sleep", "infinity"] });
    const stopped = runtime.stopContainer({ containerId, timeoutSeconds: 10 });
    await clock.advance(9_999);
    expect(runtime.running()).toHaveLength(1);
    await clock.advance(1);
    await stopped;
    expect(runtime.containers()[0]).toMatchObject({ state: "CONTAINER_EXITED", exitCode: 137, reason: "Error" });
  });

  it.each([
    { what: "a server", command: ["/bin/httpd"], tookMs: 0, exitCode: 143 },
    {
      what: "a trap",
      command: ["sh", "-c", "trap 'exit 7' TERM; while true; do sleep 1; done"],
      tookMs: 0,
      exitCode: 7,
    },
    { what: "an end before the grace is over", command: ["sleep", "3"], tookMs: 3_000, exitCode: 0 },
  ])("stops $what with its own exit code", async ({ command, tookMs, exitCode }) => {
    const { clock, runtime } = newRuntime();
    const { containerId } = await startedContainer(runtime, { command });
    const beforeMs = clock.monotonicMs();
    await clock.drive(runtime.stopContainer({ containerId, timeoutSeconds: 30 }));
    expect(clock.monotonicMs() - beforeMs).toBe(tookMs);
    expect(runtime.containers()[0]).toMatchObject({ state: "CONTAINER_EXITED", exitCode });
  });

  it("sends the stop signal once; a shorter second stop only kills sooner", async () => {
    const { clock, runtime } = newRuntime({
      programs: [() => ({ onStop: { afterMs: 60_000, exitCode: 0 } })],
    });
    const { containerId } = await startedContainer(runtime);
    const first = runtime.stopContainer({ containerId, timeoutSeconds: 30 });
    await clock.advance(1_000);
    const second = runtime.stopContainer({ containerId, timeoutSeconds: 2 });
    await clock.advance(2_000);
    await Promise.all([first, second]);
    expect(runtime.containers()[0]?.exitCode).toBe(137);
    expect(clock.pendingTimers).toBe(0);
  });

  it("leaves a container alone when the client that stops it goes away before the grace is over", async () => {
    const { clock, runtime } = newRuntime();
    const { containerId } = await startedContainer(runtime);
    const abort = new AbortController();
    const stopped = runtime.stopContainer({ containerId, timeoutSeconds: 10, signal: abort.signal });
    await clock.advance(1_000);
    abort.abort();
    await expect(stopped).rejects.toMatchObject({ kind: "cancelled" });
    await clock.advance(60_000);
    expect(runtime.running()).toHaveLength(1);
  });

  it.each([
    { command: ["/no/such"], text: 'exec: "/no/such": stat /no/such: no such file or directory' },
    { command: ["/opt/app/run"], text: 'exec: "/opt/app/run": stat /opt/app/run: no such file or directory' },
  ])("reports a command that is not there as StartError: $command", async ({ command, text }) => {
    const { runtime } = newRuntime();
    // The wording is that of a recorded containerd 2.1.9 with runc 1.1.5.
    const message = `failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: ${text}`;
    await expect(startedContainer(runtime, { command })).rejects.toMatchObject({ kind: "internal", message });
    expect(runtime.containers()[0]).toMatchObject({
      state: "CONTAINER_EXITED",
      exitCode: 128,
      reason: "StartError",
      message,
      startedAtNs: 0n,
    });
  });

  it("tells OOMKilled with exit code 137", async () => {
    const { runtime } = newRuntime();
    const { containerId } = await startedContainer(runtime);
    runtime.oomKill(containerId);
    expect(runtime.containers()[0]).toMatchObject({ state: "CONTAINER_EXITED", exitCode: 137, reason: "OOMKilled" });
  });

  it("writes logs and the termination message where the request says", async () => {
    const lines: LogLine[] = [];
    const files = new Map<string, string>();
    const { clock, runtime } = newRuntime({
      output: {
        openLog: ({ path }) => files.set(path, ""),
        writeLog: (line) => lines.push(line),
        writeFile: ({ path, content }) => files.set(path, content),
      },
    });
    const config = sandboxConfig();
    const sandboxId = await runtime.runSandbox({ config, runtimeHandler: "" });
    const containerId = await runtime.createContainer({
      sandboxId,
      sandboxConfig: config,
      config: {
        ...containerConfig({
          attempt: 2,
          command: ["sh", "-c", "echo one; sleep 1; echo two >&2; echo bye > /dev/termination-log; exit 1"],
        }),
        mounts: [{ containerPath: "/dev/termination-log", hostPath: "/pods/uid/t" }],
      },
    });
    await runtime.startContainer({ containerId });
    await clock.advance(1_000);
    const path = "/var/log/pods/default_web_uid-web/app/2.log";
    expect(lines.map(({ path, stream, text }) => ({ path, stream, text }))).toEqual([
      { path, stream: "stdout", text: "one" },
      { path, stream: "stderr", text: "two" },
    ]);
    expect([...files]).toEqual([
      [path, ""],
      ["/pods/uid/t", "bye\n"],
    ]);
  });
});

describe("names and limits in memory", () => {
  it("frees a name when a call that was given up takes no effect", async () => {
    const { clock, runtime } = newRuntime({ latencyMs: () => 1_000, lateEffectProbability: 0 });
    const abort = new AbortController();
    const call = runtime.runSandbox({ config: sandboxConfig(), runtimeHandler: "", signal: abort.signal });
    await clock.advance(500);
    await expect(runtime.runSandbox({ config: sandboxConfig(), runtimeHandler: "" })).rejects.toMatchObject({
      kind: "alreadyExists",
    });
    abort.abort();
    await expect(call).rejects.toMatchObject({ kind: "cancelled" });
    await clock.drive(runtime.runSandbox({ config: sandboxConfig(), runtimeHandler: "" }));
    expect(runtime.sandboxes()).toHaveLength(1);
  });

  it("may make a sandbox although its client gave up", async () => {
    const { clock, runtime } = newRuntime({ latencyMs: () => 1_000, lateEffectProbability: 1 });
    const abort = new AbortController();
    const call = runtime.runSandbox({ config: sandboxConfig(), runtimeHandler: "", signal: abort.signal });
    abort.abort();
    await expect(call).rejects.toMatchObject({ kind: "cancelled" });
    await clock.advance(1_000);
    expect(runtime.sandboxes()).toHaveLength(1);
  });

  it("refuses a sandbox when no address is left, and frees addresses with their sandboxes", async () => {
    const { runtime } = newRuntime({ ips: { size: 2, dualStack: true } });
    const run = (name: string) => runtime.runSandbox({ config: sandboxConfig({ name }), runtimeHandler: "" });
    const first = await run("a");
    await run("b");
    await expect(run("c")).rejects.toMatchObject({
      kind: "internal",
      message: expect.stringContaining("no IP addresses available"),
    });
    expect((await runtime.sandboxStatus({ sandboxId: first })).ips).toEqual(["10.244.0.2", "fd00:10:244::2"]);
    await runtime.stopSandbox({ sandboxId: first });
    expect(runtime.ipsTaken).toBe(1);
    await run("c");
  });

  it("gives host-network sandboxes no address", async () => {
    const { runtime } = newRuntime();
    const config = {
      ...sandboxConfig(),
      linux: { securityContext: { namespaceOptions: { network: "NODE" as const } } },
    };
    const sandboxId = await runtime.runSandbox({ config, runtimeHandler: "" });
    expect([(await runtime.sandboxStatus({ sandboxId })).ips, runtime.ipsTaken]).toEqual([[], 0]);
  });

  it("knows its runtime handlers", async () => {
    const { runtime } = newRuntime({ runtimeHandlers: ["kata"] });
    await runtime.runSandbox({ config: sandboxConfig(), runtimeHandler: "kata" });
    await expect(
      runtime.runSandbox({ config: sandboxConfig({ name: "b" }), runtimeHandler: "gvisor" }),
    ).rejects.toMatchObject({
      kind: "internal",
      message: expect.stringMatching(
        /^unable to get OCI runtime for sandbox "[0-9a-f]{64}": no runtime for "gvisor" is configured$/,
      ),
    });
  });
});

describe("a runtime in trouble", () => {
  it("answers nothing to a hanging call until its deadline, and then it may have acted: the name stays reserved until it appears", async () => {
    const { clock, runtime } = newRuntime({ requestTimeoutMs: 120_000 });
    const config = sandboxConfig();
    const sandboxId = await runtime.runSandbox({ config, runtimeHandler: "" });
    runtime.hang({ calls: ["createContainer"], id: config.metadata.uid, times: 1, forMs: 210_000 });
    const create = () => runtime.createContainer({ sandboxId, sandboxConfig: config, config: containerConfig() });
    const first = outcomeOf(create());
    await clock.advance(120_000);
    expect(await first).toBe("unknownOutcome");
    // The wording is containerd's: container, pod, namespace, UID and attempt.
    await expect(create()).rejects.toMatchObject({
      kind: "alreadyExists",
      message: expect.stringMatching(
        /^failed to reserve container name "app_web_default_uid-web_0"; check if another CreateContainer request is in progress: name "app_web_default_uid-web_0" is reserved for "[0-9a-f]{64}"$/,
      ),
    });
    expect(runtime.containers()).toEqual([]);
    await clock.advance(90_000);
    expect(runtime.containers()).toMatchObject([{ state: "CONTAINER_CREATED" }]);
  });

  it("hangs calls about one sandbox and no other", async () => {
    const { clock, runtime } = newRuntime();
    const stuck = await startedContainer(runtime, { pod: "stuck" });
    const free = await startedContainer(runtime, { pod: "free" });
    const hang = runtime.hang({ id: stuck.sandboxId });
    const abort = new AbortController();
    const status = runtime.containerStatus({ containerId: stuck.containerId, signal: abort.signal });
    const stop = runtime.stopSandbox({ sandboxId: stuck.sandboxId });
    expect((await runtime.containerStatus({ containerId: free.containerId })).state).toBe("CONTAINER_RUNNING");
    expect(await runtime.listContainers()).toHaveLength(2);
    expect(hang.caught).toBe(2);
    abort.abort();
    await expect(status).rejects.toMatchObject({ kind: "cancelled" });
    hang.release();
    await stop;
    expect((await runtime.sandboxStatus({ sandboxId: stuck.sandboxId })).state).toBe("SANDBOX_NOTREADY");
    await clock.advance(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it("is unavailable while its daemon restarts, and has lost nothing afterwards", async () => {
    const { clock, runtime } = newRuntime();
    const { containerId } = await startedContainer(runtime, { command: ["sleep", "5"] });
    const watch = runtime.watchContainerEvents({ onEvent: () => {}, signal: new AbortController().signal });
    await clock.settle();
    runtime.restartDaemon({ downMs: 10_000 });
    await expect(watch).rejects.toMatchObject({ kind: "unavailable" });
    await expect(runtime.listContainers()).rejects.toMatchObject({ kind: "unavailable" });
    await expect(runtime.images.imageStatus({ image: { image: IMAGE } })).rejects.toMatchObject({
      kind: "unavailable",
    });
    await clock.advance(10_000);
    const status = await runtime.containerStatus({ containerId });
    expect(status).toMatchObject({ state: "CONTAINER_EXITED", exitCode: 0, reason: "Completed" });
    expect(status.finishedAtNs / 1_000_000n - status.startedAtNs / 1_000_000n).toBe(5_000n);
  });

  it.each([
    { probability: 0, sandboxes: 0, again: "ok" },
    { probability: 1, sandboxes: 1, again: "alreadyExists" },
  ])(
    "breaks calls under way when its daemon stops: late effects $probability",
    async ({ probability, sandboxes, again }) => {
      const { clock, runtime } = newRuntime({ latencyMs: () => 100, lateEffectProbability: probability });
      const run = () => outcomeOf(runtime.runSandbox({ config: sandboxConfig(), runtimeHandler: "" }));
      const calls = Promise.all([run(), outcomeOf(runtime.listSandboxes())]);
      await clock.advance(50);
      runtime.stopDaemon();
      expect(await calls).toEqual(["unknownOutcome", "unavailable"]);
      await clock.advance(1_000);
      runtime.startDaemon();
      expect(runtime.sandboxes()).toHaveLength(sandboxes);
      // The name is free exactly when nothing was made.
      expect(await clock.drive(run())).toBe(again);
    },
  );

  it("comes up from a reboot with dead sandboxes and lost containers", async () => {
    const { clock, runtime } = newRuntime();
    const running = await startedContainer(runtime, { pod: "a" });
    const config = sandboxConfig({ name: "a" });
    const created = await runtime.createContainer({
      sandboxId: running.sandboxId,
      sandboxConfig: config,
      config: containerConfig({ name: "side" }),
    });
    runtime.reboot();
    expect(runtime.sandboxes()).toMatchObject([{ state: "SANDBOX_NOTREADY", ips: [] }]);
    expect(await runtime.containerStatus({ containerId: running.containerId })).toMatchObject({
      state: "CONTAINER_EXITED",
      exitCode: 255,
      reason: "Unknown",
    });
    expect((await runtime.containerStatus({ containerId: created })).state).toBe("CONTAINER_CREATED");
    await expect(runtime.startContainer({ containerId: created })).rejects.toMatchObject({
      message: `sandbox container "${running.sandboxId}" is not running`,
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it("loses a container that somebody else removed", async () => {
    const { runtime } = newRuntime();
    const { containerId, sandboxId } = await startedContainer(runtime);
    runtime.removeBehind({ id: containerId });
    await expect(runtime.containerStatus({ containerId })).rejects.toMatchObject({ kind: "notFound" });
    runtime.removeBehind({ id: sandboxId });
    expect([runtime.sandboxes(), runtime.ipsTaken]).toEqual([[], 0]);
  });

  it("keeps containers running when only the sandbox's own process died", async () => {
    const { runtime } = newRuntime();
    const { sandboxId } = await startedContainer(runtime);
    runtime.endSandbox(sandboxId);
    expect([runtime.sandboxes()[0]?.state, runtime.running().length]).toEqual(["SANDBOX_NOTREADY", 1]);
  });
});

describe("what tests see of a runtime", () => {
  it("journals every changing call with its outcome and leaves reads out", async () => {
    const { clock, runtime } = newRuntime();
    const { sandboxId, containerId } = await startedContainer(runtime);
    await runtime.listContainers();
    void runtime.stopContainer({ containerId, timeoutSeconds: 5 });
    await expect(runtime.startContainer({ containerId })).rejects.toThrow("is in CONTAINER_RUNNING state");
    expect(runtime.calls.map(({ call, outcome, answer }) => ({ call, outcome, answer }))).toEqual([
      { call: "runSandbox", outcome: "ok", answer: sandboxId },
      { call: "createContainer", outcome: "ok", answer: containerId },
      { call: "startContainer", outcome: "ok", answer: undefined },
      { call: "stopContainer", outcome: "pending", answer: undefined },
      { call: "startContainer", outcome: "internal", answer: undefined },
    ]);
    expect(runtime.calls[3]?.request).toEqual({ containerId, timeoutSeconds: 5 });
    await clock.advance(5_000);
    expect(runtime.calls[3]?.outcome).toBe("ok");
    runtime.clearCalls();
    expect(runtime.calls).toEqual([]);
  });

  it("tells each change at the moment it takes effect", async () => {
    const { runtime } = newRuntime();
    const seen: RuntimeChange[] = [];
    const end = runtime.onChange((change) => seen.push(change));
    const { sandboxId } = await startedContainer(runtime);
    await runtime.removeSandbox({ sandboxId });
    end();
    await startedContainer(runtime);
    expect(seen.map(({ kind, from, to }) => [kind, from, to])).toEqual([
      ["sandbox", undefined, "SANDBOX_READY"],
      ["container", undefined, "CONTAINER_CREATED"],
      ["container", "CONTAINER_CREATED", "CONTAINER_RUNNING"],
      ["container", "CONTAINER_RUNNING", "CONTAINER_EXITED"],
      ["sandbox", "SANDBOX_READY", "SANDBOX_NOTREADY"],
      ["container", "CONTAINER_EXITED", undefined],
      ["sandbox", "SANDBOX_NOTREADY", undefined],
    ]);
  });

  it("repeats a run from its seed, latencies and ids included", async () => {
    const run = async (seed: string) => {
      const random = new SeededRandom(seed);
      const { clock, runtime } = newRuntime({ random, latencyMs: containerdLatency(random.fork("latency")) });
      const ids = await Promise.all(["a", "b", "c"].map((pod) => clock.drive(startedContainer(runtime, { pod }))));
      return { ids, atMs: clock.monotonicMs() };
    };
    expect(await run("x")).toEqual(await run("x"));
    expect((await run("x")).ids).not.toEqual((await run("y")).ids);
  });
});
