import type { ContainerEvent } from "@nodelet/core";
import { expect } from "vitest";
import type { ContractTest } from "./contract.ts";
import { withPod } from "./contract-pods.ts";
import { expectFailure } from "./expect-failure.ts";
import type { RuntimeFixture } from "./runtime-fixture.ts";

/** The runtime's own event stream. */
export function defineEventTests(test: ContractTest<RuntimeFixture>): void {
  test(
    "container events tell a life in order where the runtime has them, else the watch is unsupported",
    withPod(async (pod, { runtime, commands, waitFor }) => {
      const abort = new AbortController();
      const events: ContainerEvent[] = [];
      const watch = runtime.watchContainerEvents({ onEvent: (event) => events.push(event), signal: abort.signal });
      if (!(await runtime.capabilities()).containerEvents) {
        await expectFailure(watch, "unsupported");
        return;
      }
      const sandboxId = await pod.run();
      const containerId = await pod.start(sandboxId, { command: commands.exits(0) });
      await pod.exited(containerId);
      await runtime.removeContainer({ containerId });
      const typesOf = (id: string) => events.filter((event) => event.containerId === id).map(({ type }) => type);
      await waitFor(async () => typesOf(containerId).includes("CONTAINER_DELETED_EVENT"));
      abort.abort();
      await watch;
      expect(typesOf(containerId)).toEqual([
        "CONTAINER_CREATED_EVENT",
        "CONTAINER_STARTED_EVENT",
        "CONTAINER_STOPPED_EVENT",
        "CONTAINER_DELETED_EVENT",
      ]);
      expect(typesOf(sandboxId)).toContain("CONTAINER_STARTED_EVENT");
    }),
  );

  test("a watch whose signal has fired resolves without events", async ({ runtime }) => {
    if (!(await runtime.capabilities()).containerEvents) return;
    const events: ContainerEvent[] = [];
    await runtime.watchContainerEvents({ onEvent: (event) => events.push(event), signal: AbortSignal.abort() });
    expect(events).toEqual([]);
  });
}
