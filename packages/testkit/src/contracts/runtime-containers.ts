import { expect } from "vitest";
import type { ContractTest } from "./contract.ts";
import { withPod } from "./contract-pods.ts";
import { expectFailure, firedSignal } from "./expect-failure.ts";
import type { RuntimeFixture } from "./runtime-fixture.ts";

const UNKNOWN_ID = "e".repeat(64);

/** Containers: CREATED, RUNNING, EXITED, gone. */
export function defineContainerLifeTests(test: ContractTest<RuntimeFixture>): void {
  test(
    "a new container is CREATED, with what it was given, and has neither started nor finished",
    withPod(async (pod, { runtime, images, presentImage }) => {
      const containerId = await pod.create(await pod.run(), { attempt: 3 });
      const { metadata, labels, annotations, logPath } = pod.containerConfig({ attempt: 3 });
      const status = await runtime.containerStatus({ containerId });
      expect(status).toMatchObject({ id: containerId, state: "CONTAINER_CREATED", metadata, labels, annotations });
      expect([status.startedAtNs, status.finishedAtNs, status.exitCode, status.reason]).toEqual([0n, 0n, 0, ""]);
      expect(status.createdAtNs).toBeGreaterThan(0n);
      expect(status.logPath).toBe(`${pod.sandboxConfig().logDirectory}/${logPath}`);
      const image = await images.imageStatus({ image: { image: presentImage } });
      expect([image?.id, ...(image?.repoDigests ?? [])]).toContain(status.imageRef);
      expect(image?.repoTags).toContain(status.image.image);
    }),
  );

  test(
    "a started container is RUNNING and keeps its start time",
    withPod(async (pod, { runtime }) => {
      const containerId = await pod.start(await pod.run());
      const first = await runtime.containerStatus({ containerId });
      expect([first.state, first.finishedAtNs]).toEqual(["CONTAINER_RUNNING", 0n]);
      expect(first.startedAtNs).toBeGreaterThanOrEqual(first.createdAtNs);
      expect((await runtime.containerStatus({ containerId })).startedAtNs).toBe(first.startedAtNs);
    }),
  );

  test(
    "a container that ends is EXITED with its code, its times, and reason Completed or Error",
    withPod(async (pod, { commands }) => {
      const sandboxId = await pod.run();
      const good = await pod.exited(await pod.start(sandboxId, { name: "good", command: commands.exits(0) }));
      const bad = await pod.exited(await pod.start(sandboxId, { name: "bad", command: commands.exits(3) }));
      expect([good.exitCode, good.reason, bad.exitCode, bad.reason]).toEqual([0, "Completed", 3, "Error"]);
      for (const { createdAtNs, startedAtNs, finishedAtNs } of [good, bad]) {
        expect(startedAtNs).toBeGreaterThanOrEqual(createdAtNs);
        // containerd stamps the start when its call to start returned, by which time a brief process may have ended.
        expect(finishedAtNs).toBeGreaterThanOrEqual(startedAtNs - 500_000_000n);
      }
    }),
  );

  test(
    "a command that is not there leaves the container EXITED: StartError, 128, no start time, and the reason in words",
    withPod(async (pod, { runtime, commands }) => {
      const containerId = await pod.create(await pod.run(), { command: commands.missing });
      const failure = await expectFailure(runtime.startContainer({ containerId }), ["internal", "notFound"]);
      expect(failure.message).toContain(commands.missing[0]);
      const status = await runtime.containerStatus({ containerId });
      expect(status).toMatchObject({ state: "CONTAINER_EXITED", exitCode: 128, reason: "StartError", startedAtNs: 0n });
      expect(status.message).toContain(commands.missing[0]);
      expect(status.finishedAtNs).toBeGreaterThanOrEqual(status.createdAtNs);
    }),
  );

  test(
    "a container's name and attempt are taken in its pod until it is removed, exited or not",
    withPod(async (pod, { runtime, commands }) => {
      const sandboxId = await pod.run();
      const containerId = await pod.start(sandboxId, { command: commands.exits(0) });
      await pod.exited(containerId);
      const taken = await expectFailure(pod.create(sandboxId), "alreadyExists");
      expect(taken.message).toContain(`is reserved for "${containerId}"`);
      await pod.create(sandboxId, { attempt: 1 });
      await pod.create(sandboxId, { name: "other" });
      await runtime.removeContainer({ containerId });
      expect(await pod.create(sandboxId)).not.toBe(containerId);
    }),
  );

  test(
    "of two calls for the same container at once one makes it",
    withPod(async (pod, { runtime }) => {
      const sandboxId = await pod.run();
      const outcomes = await Promise.allSettled([pod.create(sandboxId), pod.create(sandboxId)]);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      expect(await runtime.listContainers({ sandboxId })).toHaveLength(1);
    }),
  );

  test(
    "an image that is not there is notFound, and the name stays free",
    withPod(async (pod, { absentImage }) => {
      const sandboxId = await pod.run();
      await expectFailure(pod.create(sandboxId, { image: absentImage }), "notFound");
      await pod.create(sandboxId);
    }),
  );

  test(
    "no container is made in a sandbox that is not there",
    withPod(async (pod) => {
      await expectFailure(pod.create(UNKNOWN_ID), ["notFound", "internal"]);
    }),
  );

  test(
    "no container runs in a stopped sandbox",
    withPod(async (pod, { runtime }) => {
      const sandboxId = await pod.run();
      const before = await pod.create(sandboxId);
      await runtime.stopSandbox({ sandboxId });
      await expectFailure(runtime.startContainer({ containerId: before }), ["internal", "notFound"]);
      await expectFailure(pod.start(sandboxId, { name: "after" }), ["internal", "notFound"]);
      expect(await runtime.listContainers({ sandboxId, state: "CONTAINER_RUNNING" })).toEqual([]);
    }),
  );

  test(
    "a container starts once",
    withPod(async (pod, { runtime }) => {
      const containerId = await pod.start(await pod.run());
      await expectFailure(runtime.startContainer({ containerId }), ["internal", "conflict", "invalid"]);
      expect((await runtime.containerStatus({ containerId })).state).toBe("CONTAINER_RUNNING");
    }),
  );

  test(
    "removing a container removes a running one too, keeps its log and may be repeated",
    withPod(async (pod, { runtime, commands, readLog }) => {
      const sandboxId = await pod.run();
      const containerId = await pod.start(sandboxId, { command: commands.prints("kept") });
      const { logPath } = await pod.exited(containerId);
      await runtime.removeContainer({ containerId });
      await runtime.removeContainer({ containerId });
      await expectFailure(runtime.containerStatus({ containerId }), "notFound");
      // One record of the CRI log format: time, stream, F for a full line, text.
      expect(await readLog(logPath)).toMatch(
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}(Z|[+-]\d\d:\d\d) stdout F kept\n$/,
      );
      const running = await pod.start(sandboxId, { attempt: 1, command: commands.ignoresStop });
      await runtime.removeContainer({ containerId: running });
      expect(await runtime.listContainers({ sandboxId })).toEqual([]);
    }),
  );

  test("starting a container that is not there fails, removing it succeeds, its status is notFound", async ({
    runtime,
  }) => {
    await expectFailure(runtime.startContainer({ containerId: UNKNOWN_ID }), "notFound");
    await runtime.removeContainer({ containerId: UNKNOWN_ID });
    await expectFailure(runtime.containerStatus({ containerId: UNKNOWN_ID }), "notFound");
  });

  test(
    "a container whose signal has fired is not made",
    withPod(async (pod, { runtime }) => {
      const sandboxId = await pod.run();
      const request = { sandboxId, config: pod.containerConfig(), sandboxConfig: pod.sandboxConfig() };
      await expectFailure(runtime.createContainer({ ...request, signal: firedSignal() }), "cancelled");
      expect(await runtime.listContainers({ sandboxId })).toEqual([]);
    }),
  );
}
