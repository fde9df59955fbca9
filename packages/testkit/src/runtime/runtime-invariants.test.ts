import { expect, it } from "vitest";
import { containerConfig, newRuntime, sandboxConfig, startedContainer } from "./runtime.test-support.ts";
import { RuntimeInvariants } from "./runtime-invariants.ts";

it("finds two ready sandboxes of one pod, at the moment the second becomes ready", async () => {
  const { clock, runtime } = newRuntime();
  const invariants = new RuntimeInvariants(runtime);
  await runtime.runSandbox({ config: sandboxConfig(), runtimeHandler: "" });
  await clock.advance(5);
  await runtime.runSandbox({ config: sandboxConfig({ attempt: 1 }), runtimeHandler: "" });
  expect(invariants.violations).toMatchObject([
    { rule: "two ready sandboxes for one pod", detail: expect.stringContaining("uid-web"), atMs: clock.nowMs() },
  ]);
});

it("finds two live containers in one slot, also when the first was there before", async () => {
  const { runtime } = newRuntime();
  const { sandboxId } = await startedContainer(runtime);
  const invariants = new RuntimeInvariants(runtime);
  const second = { ...containerConfig({ attempt: 1 }) };
  const containerId = await runtime.createContainer({ sandboxId, config: second, sandboxConfig: sandboxConfig() });
  expect(invariants.violations).toEqual([]);
  await runtime.startContainer({ containerId });
  expect(invariants.violations.map(({ rule }) => rule)).toEqual(["two live containers in one slot"]);
});

it("has nothing against what is right: restarts, other names, other pods", async () => {
  const { clock, runtime } = newRuntime();
  const invariants = new RuntimeInvariants(runtime);
  const { sandboxId, containerId } = await startedContainer(runtime);
  await startedContainer(runtime, { pod: "other" });
  await clock.drive(runtime.stopContainer({ containerId, timeoutSeconds: 0 }));
  for (const options of [{ attempt: 1 }, { name: "side" }]) {
    const config = containerConfig(options);
    await runtime.startContainer({
      containerId: await runtime.createContainer({ sandboxId, config, sandboxConfig: sandboxConfig() }),
    });
  }
  await runtime.stopSandbox({ sandboxId });
  await runtime.runSandbox({ config: sandboxConfig({ attempt: 1 }), runtimeHandler: "" });
  expect(invariants.violations).toEqual([]);
});
