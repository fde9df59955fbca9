import { expect } from "vitest";
import type { ContractTest } from "./contract.ts";
import { expectFailure, firedSignal } from "./expect-failure.ts";
import type { RuntimeFixture } from "./runtime-fixture.ts";

/** Who the runtime is and how it is. */
export function defineInfoTests(test: ContractTest<RuntimeFixture>): void {
  test("names the runtime and speaks CRI v1", async ({ runtime }) => {
    const version = await runtime.version();
    expect(version.runtimeName).not.toBe("");
    expect(version.runtimeVersion).not.toBe("");
    expect(version.runtimeApiVersion).toMatch(/^v1(\.|$)/);
  });

  test("tells its two conditions, and a fixture's runtime is ready", async ({ runtime }) => {
    const { conditions } = await runtime.status();
    const statuses = new Map(conditions.map(({ type, status }) => [type, status]));
    expect([statuses.get("RuntimeReady"), statuses.get("NetworkReady")]).toEqual([true, true]);
  });

  test("tells the same capabilities each time", async ({ runtime }) => {
    const first = await runtime.capabilities();
    expect(typeof first.containerEvents).toBe("boolean");
    expect(await runtime.capabilities()).toEqual(first);
  });

  test("does not begin a read whose signal has fired", async ({ runtime }) => {
    await expectFailure(runtime.listSandboxes({ signal: firedSignal() }), "cancelled");
    await expectFailure(runtime.containerStatus({ containerId: "none", signal: firedSignal() }), "cancelled");
  });
}
