import { readFile } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import type { Pod } from "@nodelet/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { killProcessesOf, shimOf } from "./harness/container-processes.ts";
import { container, podManifest } from "./harness/manifests.ts";
import { isForgottenByContainerd, isReady, NodeUnderTest, stateOf } from "./harness/node-under-test.ts";

/** What must not change of a pod that nothing happened to. */
const standing = (pod: Pod): unknown => ({
  uid: pod.metadata?.uid,
  container: stateOf(pod)?.containerID,
  restartCount: stateOf(pod)?.restartCount,
  ready: pod.status?.conditions?.find(({ type }) => type === "Ready"),
});

describe.each(["1.6", "2.1"] as const)("trouble with containerd %s", (version) => {
  let node: NodeUnderTest;
  beforeAll(async () => {
    node = await NodeUnderTest.prepare(version);
    await node.agent.start();
  });
  afterAll(() => node?.close());

  const add = (name: string): Promise<void> => node.agent.writeManifest(`${name}.yaml`, podManifest(name));
  const remove = (name: string): Promise<void> => node.agent.removeManifest(`${name}.yaml`);

  it.each(["SIGTERM", "SIGKILL"] as const)(
    "pods run on and stay Ready when it ends by %s and comes back",
    async (signal) => {
      for (const name of ["stays", "goes"]) await add(name);
      const before = standing(await node.waitForReady("stays"));
      await node.waitForReady("goes");
      const logBefore = (await node.agent.log()).length;

      await node.containerd.kill(signal);
      await add("comes");
      await remove("goes");
      await node.waitFor({
        what: "the agent to tell that the runtime is away",
        until: async () =>
          /Container runtime is not ready; trying again/.test((await node.agent.log()).slice(logBefore)),
      });
      const during = (await node.agent.pod("stays")) ?? {};
      expect(standing(during)).toEqual(before);
      expect(isReady(during)).toBe(true);
      expect(await node.agent.get("health", "/healthz")).toEqual({ status: 200, text: "ok" });

      await node.containerd.restart();
      await node.waitForReady("comes");
      await node.waitForGone("goes");
      expect(standing(await node.waitForReady("stays"))).toEqual(before);
      expect(await node.containers({ pod: "stays" })).toHaveLength(1);
      expect((await node.agent.log()).slice(logBefore)).toContain("Container runtime is ready");
      for (const name of ["stays", "comes"]) await remove(name);
      for (const name of ["stays", "comes"]) await node.waitForGone(name);
      await node.waitForNothingLeft();
    },
  );

  it("a container that ended while it was away is started again once", async () => {
    await add("dies");
    const pod = await node.waitForReady("dies");
    const { id } = await node.containerStatus({ pod: "dies", container: "main" });
    await node.containerd.kill("SIGKILL");
    await killProcessesOf(node, { podUid: pod.metadata?.uid ?? "", id });
    await node.containerd.restart();
    const again = await node.waitForPod("dies", {
      what: "to be Ready in another container",
      fits: (found) => isReady(found) && stateOf(found)?.containerID !== `containerd://${id}`,
    });
    expect(stateOf(again)).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { containerID: `containerd://${id}` } },
    });
    await remove("dies");
    await node.waitForGone("dies");
    await node.waitForNothingLeft();
  });

  it("a sandbox whose process died is made anew, with its containers", async () => {
    await add("broken");
    const pod = await node.waitForReady("broken");
    const [sandbox] = await node.sandboxes("broken");
    const id = sandbox?.id ?? "";
    await killProcessesOf(node, { podUid: pod.metadata?.uid ?? "", id });
    await node.waitForPod("broken", {
      what: "to be Ready in another container",
      fits: (found) => isReady(found) && stateOf(found)?.containerID !== stateOf(pod)?.containerID,
    });
    const [newest] = await node.sandboxes("broken");
    expect(newest).toMatchObject({ state: "SANDBOX_READY", metadata: { attempt: 1, uid: pod.metadata?.uid } });
    const running = (await node.containers({ pod: "broken" })).filter(({ state }) => state === "CONTAINER_RUNNING");
    expect(running.map(({ sandboxId }) => sandboxId)).toEqual([newest?.id]);
    await remove("broken");
    await node.waitForGone("broken");
    await node.waitForNothingLeft({ except: isForgottenByContainerd });
  });

  it("a container whose calls hang delays no other pod, and goes when they no longer hang", async () => {
    for (const name of ["stuck", "early"]) await add(name);
    const pod = await node.waitForReady("stuck");
    await node.waitForReady("early");
    const [sandbox] = await node.sandboxes("stuck");
    const shim = await shimOf(node, sandbox?.id ?? "");
    process.kill(shim, "SIGSTOP");
    try {
      await remove("stuck");
      await node.waitFor({
        what: "the agent to be about to stop the container",
        until: async () =>
          (await node.agent.decisions(pod.metadata?.uid)).some(
            ({ action, reason }) => action === "kill" && reason === "Killing",
          ),
      });
      for (const name of ["late-0", "late-1", "late-2"]) await add(name);
      for (const name of ["late-0", "late-1", "late-2"]) await node.waitForReady(name);
      for (const name of ["early", "late-0"]) await remove(name);
      for (const name of ["early", "late-0"]) await node.waitForGone(name);
      expect(await node.agent.get("readOnly", "/healthz/syncloop")).toEqual({ status: 200, text: "ok" });
      expect((await node.containers({ pod: "stuck" })).map(({ state }) => state)).toEqual(["CONTAINER_RUNNING"]);
    } finally {
      process.kill(shim, "SIGCONT");
    }
    await node.waitForGone("stuck");
    for (const name of ["late-1", "late-2"]) await remove(name);
    for (const name of ["late-1", "late-2"]) await node.waitForGone(name);
    await node.waitForNothingLeft({ except: isForgottenByContainerd });
  });

  it("a daemon that hangs flips no pod, and is worked with when it goes on", async () => {
    await add("stays");
    const before = standing(await node.waitForReady("stays"));
    await node.containerd.kill("SIGSTOP");
    try {
      await add("comes");
      await node.waitFor({
        what: "the new pod to be seen",
        until: async () => (await node.agent.pod("comes")) !== undefined,
      });
      expect(await node.agent.get("health", "/healthz")).toEqual({ status: 200, text: "ok" });
      expect(standing((await node.agent.pod("stays")) ?? {})).toEqual(before);
    } finally {
      await node.containerd.kill("SIGCONT");
    }
    await node.waitForReady("comes");
    expect(standing(await node.waitForReady("stays"))).toEqual(before);
    for (const name of ["stays", "comes"]) await remove(name);
    for (const name of ["stays", "comes"]) await node.waitForGone(name);
    await node.waitForNothingLeft({ except: isForgottenByContainerd });
  });

  it("an image that never comes delays no pod whose image is there, and is let go with its pod", async () => {
    const registry = await silentServer();
    try {
      const image = `127.0.0.1:${registry.port}/never:1`;
      await node.agent.writeManifest(
        "pulls.yaml",
        podManifest("pulls", { containers: [container("main", ["true"], { image })] }),
      );
      await node.waitFor({ what: "the pull to be under way", until: () => registry.connections() > 0 });
      await add("present");
      await node.waitForReady("present");
      expect(stateOf((await node.agent.pod("pulls")) ?? {})?.state?.waiting?.reason).toBe("ContainerCreating");
      await remove("pulls");
      await node.waitForGone("pulls");
      await node.waitFor({
        what: "the pull to be cancelled",
        until: async () => {
          const lines = (await readFile(node.containerd.logPath, "utf8")).split("\n");
          return lines.some((line) => line.includes("Canceled") && line.includes(image));
        },
      });
      await remove("present");
      await node.waitForGone("present");
      await node.waitForNothingLeft({ except: isForgottenByContainerd });
    } finally {
      await registry.close();
    }
  });

  it("an agent that starts before it waits, and works when it is there", async () => {
    await add("waits");
    await node.waitForReady("waits");
    const { id } = await node.containerStatus({ pod: "waits", container: "main" });
    await node.agent.kill9();
    await node.containerd.kill("SIGTERM");
    const logBefore = (await node.agent.log()).length;
    await node.agent.spawn();
    await node.waitFor({
      what: "the agent to tell that the runtime is not there",
      until: async () =>
        /Container runtime is not ready; trying again.*(no such file|ENOENT|absent|does not exist|socket)/.test(
          (await node.agent.log()).slice(logBefore),
        ),
    });
    await add("begins");
    expect((await node.agent.get("health", "/healthz")).status).toBe(200);
    expect((await node.agent.status()).runtimeErrors.join()).toContain("container runtime is down");
    await node.containerd.restart();
    await node.waitForReady("begins");
    expect(stateOf(await node.waitForReady("waits"))).toMatchObject({
      containerID: `containerd://${id}`,
      restartCount: 0,
    });
    for (const name of ["waits", "begins"]) await remove(name);
    for (const name of ["waits", "begins"]) await node.waitForGone(name);
    await node.waitForNothingLeft({ except: isForgottenByContainerd });
  });
});

/** A server that takes connections and says nothing. */
async function silentServer(): Promise<{ port: number; connections: () => number; close: () => Promise<void> }> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => undefined).on("close", () => open.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    port: address.port,
    connections: () => open.size,
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
