import { describe, expect, it } from "vitest";
import { containerConfig, newRuntime, outcomeOf, sandboxConfig, startedContainer } from "./runtime.test-support.ts";

// The expected values were observed of Debian's containerd 1.6.20~ds1 and 2.1.9 with runc 1.1.5.
describe("likeness to a release of containerd", () => {
  it.each([
    { release: "1.6" as const, suffix: ": unknown" },
    { release: "2.1" as const, suffix: "" },
  ])("$release ends a start error so: '$suffix'", async ({ release, suffix }) => {
    const { runtime } = newRuntime({ likeContainerd: release });
    await outcomeOf(startedContainer(runtime, { command: ["/no/such"] }));
    expect(runtime.containers()[0]?.message).toBe(
      `failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "/no/such": stat /no/such: no such file or directory${suffix}`,
    );
  });

  it.each([
    { release: "1.6" as const, outcome: "notFound", made: 0 },
    { release: "2.1" as const, outcome: "ok", made: 1 },
  ])("$release makes $made containers in a stopped sandbox", async ({ release, outcome, made }) => {
    const { runtime } = newRuntime({ likeContainerd: release });
    const config = sandboxConfig();
    const sandboxId = await runtime.runSandbox({ config, runtimeHandler: "" });
    await runtime.stopSandbox({ sandboxId });
    const create = runtime.createContainer({ sandboxId, sandboxConfig: config, config: containerConfig() });
    expect([await outcomeOf(create), runtime.containers().length]).toEqual([outcome, made]);
  });

  it.each([
    { release: "1.6" as const, user: undefined, events: false, cgroupDriver: undefined, handlers: [] },
    {
      release: "2.1" as const,
      user: { uid: 0n, gid: 0n, supplementalGroups: [0n] },
      events: true,
      cgroupDriver: "cgroupfs",
      handlers: ["", "runc"],
    },
  ])("$release tells what it can", async ({ release, user, events, cgroupDriver, handlers }) => {
    const { runtime } = newRuntime({ likeContainerd: release });
    const { containerId } = await startedContainer(runtime);
    expect((await runtime.containerStatus({ containerId })).user).toEqual(user);
    const capabilities = await runtime.capabilities();
    expect([capabilities.containerEvents, capabilities.cgroupDriver]).toEqual([events, cgroupDriver]);
    expect((await runtime.status()).handlers.map(({ name }) => name)).toEqual(handlers);
  });

  it("tells resources as they took effect: a memory limit alone limits swap with it", async () => {
    const { runtime } = newRuntime();
    const config = sandboxConfig();
    const sandboxId = await runtime.runSandbox({ config, runtimeHandler: "" });
    const containerId = await runtime.createContainer({
      sandboxId,
      sandboxConfig: config,
      config: { ...containerConfig(), linux: { resources: { cpuShares: 100n, memoryLimitInBytes: 67_108_864n } } },
    });
    expect((await runtime.containerStatus({ containerId })).resources).toEqual({
      cpuShares: 100n,
      memoryLimitInBytes: 67_108_864n,
      memorySwapLimitInBytes: 67_108_864n,
    });
  });
});
