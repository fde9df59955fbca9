import { expect } from "vitest";
import type { ContractTest } from "./contract.ts";
import { withPod } from "./contract-pods.ts";
import { expectFailure, firedSignal } from "./expect-failure.ts";
import type { RuntimeFixture } from "./runtime-fixture.ts";

/** An id of the form that runtimes give and that no object has. */
const UNKNOWN_ID = "f".repeat(64);

/** Sandboxes: READY, NOTREADY, gone. */
export function defineSandboxTests(test: ContractTest<RuntimeFixture>): void {
  test(
    "a new sandbox is READY, with what it was given and an address",
    withPod(async (pod, { runtime }) => {
      const sandboxId = await pod.run();
      const status = await runtime.sandboxStatus({ sandboxId });
      const { metadata, labels, annotations } = pod.sandboxConfig();
      expect(status).toMatchObject({ id: sandboxId, state: "SANDBOX_READY", metadata, labels, annotations });
      expect(status.createdAtNs).toBeGreaterThan(0n);
      expect(status.ips?.[0]).toMatch(/^[0-9a-f.:]+$/);
      expect(status.namespaceOptions?.network ?? "POD").toBe("POD");
    }),
  );

  test(
    "a sandbox on the host network has no address of its own",
    withPod(async (pod, { runtime }) => {
      const sandboxId = await pod.run({ hostNetwork: true });
      const status = await runtime.sandboxStatus({ sandboxId });
      expect(status.ips ?? []).toEqual([]);
      expect(status.namespaceOptions?.network).toBe("NODE");
    }),
  );

  test(
    "name, namespace, UID and attempt of a sandbox are taken until it is removed",
    withPod(async (pod, { runtime }) => {
      const sandboxId = await pod.run();
      const taken = await expectFailure(pod.run(), "alreadyExists");
      expect(taken.message).toContain(`is reserved for "${sandboxId}"`);
      await runtime.stopSandbox({ sandboxId });
      await expectFailure(pod.run(), "alreadyExists");
      const next = await pod.run({ attempt: 1 });
      expect(next).not.toBe(sandboxId);
      await runtime.removeSandbox({ sandboxId });
      expect(await pod.run()).not.toBe(sandboxId);
    }),
  );

  test(
    "stopping a sandbox makes it NOTREADY, kills what runs in it and may be repeated",
    withPod(async (pod, { runtime, commands }) => {
      const sandboxId = await pod.run();
      const containerId = await pod.start(sandboxId, { command: commands.ignoresStop });
      await runtime.stopSandbox({ sandboxId });
      await runtime.stopSandbox({ sandboxId });
      const status = await runtime.sandboxStatus({ sandboxId });
      expect([status.state, status.ips ?? []]).toEqual(["SANDBOX_NOTREADY", []]);
      expect(await runtime.containerStatus({ containerId })).toMatchObject({
        state: "CONTAINER_EXITED",
        exitCode: 137,
      });
    }),
  );

  test(
    "removing a sandbox removes its containers, running ones too, and may be repeated",
    withPod(async (pod, { runtime, commands }) => {
      const sandboxId = await pod.run();
      const running = await pod.start(sandboxId, { command: commands.ignoresStop });
      const created = await pod.create(sandboxId, { name: "other" });
      await runtime.removeSandbox({ sandboxId });
      await runtime.removeSandbox({ sandboxId });
      await expectFailure(runtime.sandboxStatus({ sandboxId }), "notFound");
      await expectFailure(runtime.containerStatus({ containerId: running }), "notFound");
      await expectFailure(runtime.containerStatus({ containerId: created }), "notFound");
    }),
  );

  test("stopping and removing a sandbox that is not there succeeds; its status is notFound", async ({ runtime }) => {
    await runtime.stopSandbox({ sandboxId: UNKNOWN_ID });
    await runtime.removeSandbox({ sandboxId: UNKNOWN_ID });
    await expectFailure(runtime.sandboxStatus({ sandboxId: UNKNOWN_ID }), "notFound");
  });

  test(
    "a sandbox whose signal has fired is not made",
    withPod(async (pod, { runtime }) => {
      const config = pod.sandboxConfig();
      await expectFailure(runtime.runSandbox({ config, runtimeHandler: "", signal: firedSignal() }), "cancelled");
      expect(await runtime.listSandboxes({ labels: { "io.kubernetes.pod.uid": pod.uid } })).toEqual([]);
    }),
  );

  test(
    "an unknown runtime handler is refused and leaves the name free",
    withPod(async (pod, { runtime }) => {
      const config = pod.sandboxConfig();
      await expectFailure(runtime.runSandbox({ config, runtimeHandler: "no-such-handler" }), [
        "invalid",
        "internal",
        "notFound",
      ]);
      await pod.run();
    }),
  );

  test(
    "of two calls for the same sandbox at once one makes it",
    withPod(async (pod, { runtime }) => {
      const outcomes = await Promise.allSettled([pod.run(), pod.run()]);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      expect(await runtime.listSandboxes({ labels: { "io.kubernetes.pod.uid": pod.uid } })).toHaveLength(1);
    }),
  );
}
