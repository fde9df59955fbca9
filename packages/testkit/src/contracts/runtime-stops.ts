import { expect } from "vitest";
import type { ContractTest } from "./contract.ts";
import { withPod } from "./contract-pods.ts";
import { expectFailure } from "./expect-failure.ts";
import type { RuntimeFixture } from "./runtime-fixture.ts";

const UNKNOWN_ID = "d".repeat(64);

/** Stopping: signal, grace, kill. */
export function defineStopTests(test: ContractTest<RuntimeFixture>): void {
  test(
    "a process that obeys ends with its own exit code before the grace is over",
    withPod(async (pod, { runtime, commands }) => {
      const containerId = await pod.start(await pod.run(), { command: commands.obeysStop });
      await runtime.stopContainer({ containerId, timeoutSeconds: 20 });
      const status = await runtime.containerStatus({ containerId });
      expect(status).toMatchObject({ state: "CONTAINER_EXITED", exitCode: 0, reason: "Completed" });
      expect(status.finishedAtNs - status.startedAtNs).toBeLessThan(15_000_000_000n);
    }),
  );

  test(
    "a process that does not obey is killed after the grace: 137",
    withPod(async (pod, { runtime, commands }) => {
      const containerId = await pod.start(await pod.run(), { command: commands.ignoresStop });
      await runtime.stopContainer({ containerId, timeoutSeconds: 2 });
      const status = await runtime.containerStatus({ containerId });
      expect(status).toMatchObject({ state: "CONTAINER_EXITED", exitCode: 137, reason: "Error" });
      // Timers of the runtime and stamps of the kernel's clock may differ by some milliseconds.
      expect(status.finishedAtNs - status.startedAtNs).toBeGreaterThan(1_900_000_000n);
      expect(status.finishedAtNs - status.startedAtNs).toBeLessThan(15_000_000_000n);
    }),
  );

  test(
    "a grace of zero kills at once",
    withPod(async (pod, { runtime, commands }) => {
      const containerId = await pod.start(await pod.run(), { command: commands.ignoresStop });
      await runtime.stopContainer({ containerId, timeoutSeconds: 0 });
      const status = await runtime.containerStatus({ containerId });
      expect(status).toMatchObject({ state: "CONTAINER_EXITED", exitCode: 137 });
      expect(status.finishedAtNs - status.startedAtNs).toBeLessThan(15_000_000_000n);
    }),
  );

  test(
    "stopping again, and stopping what has ended by itself, succeeds and changes nothing",
    withPod(async (pod, { runtime, commands }) => {
      const containerId = await pod.start(await pod.run(), { command: commands.exits(5) });
      const before = await pod.exited(containerId);
      await runtime.stopContainer({ containerId, timeoutSeconds: 1 });
      await runtime.stopContainer({ containerId, timeoutSeconds: 0 });
      expect(await runtime.containerStatus({ containerId })).toEqual(before);
    }),
  );

  test(
    "stopping a container that never started leaves it CREATED",
    withPod(async (pod, { runtime }) => {
      const containerId = await pod.create(await pod.run());
      await runtime.stopContainer({ containerId, timeoutSeconds: 1 });
      expect((await runtime.containerStatus({ containerId })).state).toBe("CONTAINER_CREATED");
    }),
  );

  test("stopping a container that is not there succeeds", async ({ runtime }) => {
    await runtime.stopContainer({ containerId: UNKNOWN_ID, timeoutSeconds: 1 });
  });

  test(
    "two stops at once both end when the container does",
    withPod(async (pod, { runtime, commands }) => {
      const containerId = await pod.start(await pod.run(), { command: commands.ignoresStop });
      await Promise.all([
        runtime.stopContainer({ containerId, timeoutSeconds: 20 }),
        runtime.stopContainer({ containerId, timeoutSeconds: 1 }),
      ]);
      expect(await runtime.containerStatus({ containerId })).toMatchObject({
        state: "CONTAINER_EXITED",
        exitCode: 137,
      });
    }),
  );

  test(
    "a caller that gives up a stop is answered at once, and the container lives on",
    withPod(async (pod, { runtime, commands }) => {
      const containerId = await pod.start(await pod.run(), { command: commands.ignoresStop });
      const abort = new AbortController();
      const stop = runtime.stopContainer({ containerId, timeoutSeconds: 60, signal: abort.signal });
      abort.abort();
      await expectFailure(stop, "cancelled");
      expect((await runtime.containerStatus({ containerId })).state).toBe("CONTAINER_RUNNING");
    }),
  );
}
