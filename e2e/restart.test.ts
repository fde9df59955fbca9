import type { CriContainerStatus } from "@nodelet/core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { killProcessesOf } from "./harness/container-processes.ts";
import { container, podManifest, shell } from "./harness/manifests.ts";
import { NodeUnderTest, stateOf } from "./harness/node-under-test.ts";

describe.each(["1.6", "2.1"] as const)("a restart of the agent on containerd %s", (version) => {
  let node: NodeUnderTest;
  beforeAll(async () => {
    node = await NodeUnderTest.prepare(version);
    await node.agent.start();
  });
  afterAll(() => node?.close());
  beforeEach(async () => {
    if (node.agent.pid === undefined) await node.agent.start();
  });

  const add = (name: string, labels: Record<string, string> = {}): Promise<void> =>
    node.agent.writeManifest(`${name}.yaml`, podManifest(name, {}, { labels }));
  const remove = (name: string): Promise<void> => node.agent.removeManifest(`${name}.yaml`);
  const ids = async (): Promise<string[]> => (await node.containers()).map(({ id, state }) => `${id} ${state}`).sort();

  it("SIGTERM ends it with 0 and leaves its pods running; it finds them again as they are", async () => {
    for (const name of ["one", "two"]) await add(name);
    for (const name of ["one", "two"]) await node.waitForReady(name);
    const before = await ids();
    expect(await node.agent.sigterm()).toBe("exit code 0");
    expect(await ids()).toEqual(before);
    expect(before.every((each) => each.endsWith("CONTAINER_RUNNING"))).toBe(true);
    await node.agent.start();
    for (const name of ["one", "two"]) {
      expect(stateOf(await node.waitForReady(name))).toMatchObject({ restartCount: 0 });
      const decisions = await node.agent.decisions(node.agent.podName(name));
      expect(decisions.map(({ action }) => action)).toEqual(["adopt"]);
    }
    expect(await ids()).toEqual(before);
  });

  it("what changed meanwhile is done: pods that left are stopped, changed ones replaced, new ones started, the rest untouched", async () => {
    for (const name of ["one", "two", "three"]) await add(name);
    const pods = new Map<string, { uid: string; id: string }>();
    for (const name of ["one", "two", "three"]) {
      const pod = await node.waitForReady(name);
      pods.set(name, { uid: pod.metadata?.uid ?? "", id: stateOf(pod)?.containerID ?? "" });
    }
    await node.agent.kill9();
    await remove("one");
    await add("two", { revision: "other" });
    await add("four");
    await node.agent.start();
    await node.waitForReady("four");
    await node.waitForGone("one");
    const two = await node.waitForPod("two", {
      what: "to be replaced",
      fits: ({ metadata, status }) => metadata?.uid !== pods.get("two")?.uid && status?.phase === "Running",
    });
    expect(two.metadata?.labels).toEqual({ revision: "other" });
    expect(await node.containers({ pod: "two" })).toHaveLength(1);
    expect(stateOf(await node.waitForReady("three"))).toMatchObject({
      containerID: pods.get("three")?.id,
      restartCount: 0,
    });
    for (const name of ["one", "two"]) await node.waitForNothingLeft({ uid: pods.get(name)?.uid });
    for (const name of ["two", "three", "four"]) await remove(name);
    for (const name of ["two", "three", "four"]) await node.waitForGone(name);
    await node.waitForNothingLeft();
  });

  it("containers that ended meanwhile are started again, or end their pod", async () => {
    const once = { restartPolicy: "Never", containers: [container("main", ["sleep", "3600"])] };
    await add("again");
    await node.agent.writeManifest("once.yaml", podManifest("once", once));
    const before = [await node.waitForReady("again"), await node.waitForReady("once")];
    await node.agent.kill9();
    for (const pod of before) {
      const id = stateOf(pod)?.containerID?.replace("containerd://", "") ?? "";
      await killProcessesOf(node, { podUid: pod.metadata?.uid ?? "", id });
    }
    await node.agent.start();
    const again = await node.waitForPod("again", {
      what: "to run in another container",
      fits: (pod) => stateOf(pod)?.restartCount === 1 && stateOf(pod)?.state?.running !== undefined,
    });
    expect(stateOf(again)?.lastState?.terminated).toMatchObject({ exitCode: 137, reason: "Error" });
    const ended = await node.waitForPod("once", { what: "to fail", fits: ({ status }) => status?.phase === "Failed" });
    expect(stateOf(ended)).toMatchObject({ restartCount: 0, state: { terminated: { exitCode: 137 } } });
    for (const name of ["again", "once"]) await remove(name);
    for (const name of ["again", "once"]) await node.waitForGone(name);
    await node.waitForNothingLeft();
  });

  it("restart counts and back-offs go on", async () => {
    const spec = { containers: [container("main", shell("exit 9"))] };
    await node.agent.writeManifest("crash.yaml", podManifest("crash", spec));
    await node.waitForPod("crash", {
      what: "to wait after its second attempt",
      fits: (pod) => stateOf(pod)?.restartCount === 1 && stateOf(pod)?.state?.waiting?.reason === "CrashLoopBackOff",
    });
    const second = await node.containerStatus({ pod: "crash", container: "main" });
    await node.agent.kill9();
    await node.agent.start();
    const pod = await node.waitForPod("crash", { what: "to be seen again", fits: (each) => each.status !== undefined });
    expect(stateOf(pod)?.restartCount).toBeGreaterThanOrEqual(1);
    const third = await node.waitFor<CriContainerStatus>({
      what: "the third attempt",
      until: async () => {
        const newest = await node.containerStatus({ pod: "crash", container: "main" });
        return newest.metadata.attempt === 2 && newest.startedAtNs > 0n && newest;
      },
    });
    expect(Number((third.startedAtNs - second.finishedAtNs) / 1_000_000n)).toBeGreaterThanOrEqual(9_900);
    const after = await node.waitForPod("crash", {
      what: "to wait for longer",
      fits: (each) => stateOf(each)?.restartCount === 2 && stateOf(each)?.state?.waiting !== undefined,
    });
    expect(stateOf(after)?.state?.waiting?.message).toMatch(/^back-off 20s /);
    await remove("crash");
    await node.waitForGone("crash");
    await node.waitForNothingLeft();
  });
});
