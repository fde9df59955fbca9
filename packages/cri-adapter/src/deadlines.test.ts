import { describe, expect, it } from "vitest";
import { connected, failureOf, sandboxConfig, setUp, signalled } from "./cri-adapter.test-support.ts";
import type { CriAdapter } from "./cri-adapter.ts";
import { silence } from "./scripted-runtime.test-support.ts";

describe("deadlines", () => {
  it("end a look after the request timeout, and nothing was changed", async () => {
    const setup = await setUp({ containerStatus: silence });
    await connected(setup);
    const failure = failureOf(setup.adapter.runtime.containerStatus({ containerId: "c" }));
    await setup.clock.settle();
    await setup.clock.advance(119_999);
    expect(setup.clock.pendingTimers).toBe(1);
    await setup.clock.advance(1);
    expect(await failure).toMatchObject({
      kind: "deadline",
      retryable: true,
      message: `the container runtime at ${setup.server.endpoint} did not answer ContainerStatus within 120s`,
    });
    expect(setup.clock.pendingTimers).toBe(0);
  });

  it.each<[string, number, (adapter: CriAdapter) => Promise<unknown>]>([
    ["StartContainer", 7_000, ({ runtime }) => runtime.startContainer({ containerId: "c" })],
    ["RunPodSandbox", 14_000, ({ runtime }) => runtime.runSandbox({ config: sandboxConfig, runtimeHandler: "" })],
    ["StopContainer", 37_000, ({ runtime }) => runtime.stopContainer({ containerId: "c", timeoutSeconds: 30 })],
    ["StopPodSandbox", 7_000, ({ runtime }) => runtime.stopSandbox({ sandboxId: "s" })],
  ])("of %s come after %d ms and leave the outcome unknown", async (_method, timeoutMs, call) => {
    const setup = await setUp(
      { startContainer: silence, runPodSandbox: silence, stopContainer: silence, stopPodSandbox: silence },
      { requestTimeoutMs: 7_000 },
    );
    await connected(setup);
    const failure = failureOf(call(setup.adapter));
    await setup.clock.settle();
    await setup.clock.advance(timeoutMs - 1);
    expect(setup.clock.pendingTimers).toBe(1);
    await setup.clock.advance(1);
    expect(await failure).toMatchObject({ kind: "unknownOutcome", retryable: true });
  });

  it("tell the runtime that nobody waits any more", async () => {
    const { seen, notify: hungUp } = signalled();
    const { seen: started, notify: arrived } = signalled();
    const setup = await setUp({
      startContainer: async (_request, { cancelled }) => {
        arrived();
        await cancelled;
        hungUp();
        return {};
      },
    });
    const failure = failureOf(setup.adapter.runtime.startContainer({ containerId: "c" }));
    await started;
    await setup.clock.advance(120_000);
    expect((await failure).kind).toBe("unknownOutcome");
    await seen;
  });

  it("a pull has none; it reports every 30 s and ends by its signal", async () => {
    const { seen: started, notify: arrived } = signalled();
    const setup = await setUp({
      pullImage: () => {
        arrived();
        return silence();
      },
    });
    await connected(setup);
    const elapsed: number[] = [];
    const stop = new AbortController();
    const onProgress = (elapsedMs: number): void => void elapsed.push(elapsedMs);
    const failure = failureOf(
      setup.adapter.images.pullImage({ image: { image: "i" }, sandboxConfig, onProgress, signal: stop.signal }),
    );
    await started;
    await setup.clock.advance(24 * 3_600_000);
    expect(elapsed.slice(0, 3)).toEqual([30_000, 60_000, 90_000]);
    expect(elapsed).toHaveLength(2880);
    stop.abort();
    expect(await failure).toMatchObject({ kind: "cancelled", message: "PullImage was cancelled" });
    expect(setup.clock.pendingTimers).toBe(0);
  });
});

describe("cancelling", () => {
  it("before the call sends nothing", async () => {
    let calls = 0;
    const { adapter } = await setUp({
      startContainer: () => {
        calls += 1;
        return {};
      },
    });
    const failure = await failureOf(
      adapter.runtime.startContainer({ containerId: "c", signal: AbortSignal.abort("why") }),
    );
    expect(failure).toMatchObject({ kind: "cancelled", cause: "why" });
    await adapter.runtime.startContainer({ containerId: "c" });
    expect(calls).toBe(1);
  });
});
