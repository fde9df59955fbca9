import type { Container, Pod } from "@nodelet/core";
import { NodeletError } from "@nodelet/core";
import { describe, expect, it } from "vitest";
import { wrapMethods } from "../faults/wrap-methods.ts";
import { IMAGE, nodeWith, SetSource, staticPod, viewOf } from "./set-source.test-support.ts";
import { SimulatedNode } from "./simulated-node.ts";

const MINUTE = 60_000;
const SLOW = "localhost/slow:1";
const FAST: Container = { name: "a", image: IMAGE, command: ["server"] };
const WAITING: Container = { name: "b", image: SLOW, command: ["server"] };

/** A node on which pulls of SLOW hang until `release`, and a pod with `a` (there) and `b` (to be pulled). */
function slowNode(spec: Partial<NonNullable<Pod["spec"]>> = {}) {
  const source = new SetSource();
  const node = nodeWith(source);
  node.images.offer(SLOW);
  node.images.offer("localhost/fast:1");
  const { release } = bound(node.images.hang({ calls: ["pullImage"], id: SLOW }));
  source.set(staticPod({ name: "web", uid: "u1" }, { containers: [FAST, WAITING], ...spec }));
  node.start();
  return { node, source, release };
}

function bound(hang: { release(): void }): { readonly release: () => void } {
  return { release: () => hang.release() };
}

function running(node: SimulatedNode): readonly string[] {
  return node.runtime.running().map(({ metadata }) => `${metadata.name}/${metadata.attempt}`);
}

function endOf(node: SimulatedNode, name: string): void {
  const containerId = node.runtime.running().find(({ metadata }) => metadata.name === name)?.id ?? "";
  node.runtime.endContainer({ containerId, exitCode: 1 });
}

function reasons(node: SimulatedNode, container: string): readonly string[] {
  return node.events.events
    .filter(({ involved }) => involved.fieldPath === `spec.containers{${container}}`)
    .map(({ reason }) => reason);
}

describe("while one container's image is being pulled, for as long as it takes", () => {
  it("another one that crashes is restarted, with its back-off, and the pull goes on as the same one", async () => {
    const { node, release } = slowNode();
    await node.clock.advance(20_000);
    expect(running(node)).toEqual(["a/0"]);
    endOf(node, "a");
    await node.clock.advance(10_000);
    expect(running(node)).toEqual(["a/1"]);
    endOf(node, "a");
    await node.clock.advance(8000);
    expect(running(node)).toEqual([]);
    await node.clock.advance(15_000);
    expect(running(node)).toEqual(["a/2"]);
    expect(viewOf(node, "u1")?.status?.containerStatuses?.[0]).toMatchObject({ restartCount: 2, ready: true });
    expect(node.images.calls).toHaveLength(1);
    release();
    await node.clock.advance(1000);
    expect(running(node)).toEqual(["a/2", "b/0"]);
    expect(reasons(node, "b")).toEqual(["Pulling", "Pulled", "Created", "Started"]);
    node.kill();
  });

  it("does not start what comes after it in the spec", async () => {
    const { node } = slowNode({ containers: [FAST, WAITING, { ...FAST, name: "c" }] });
    await node.clock.advance(20_000);
    endOf(node, "a");
    await node.clock.advance(30_000);
    expect(running(node)).toEqual(["a/1"]);
    node.kill();
  });

  it("does not count against the crash back-off of the container that waits for it", async () => {
    const { node, release } = slowNode({
      containers: [FAST, { ...WAITING, imagePullPolicy: "Always" }],
    });
    release();
    await node.clock.advance(5000);
    expect(running(node)).toEqual(["a/0", "b/0"]);
    const again = bound(node.images.hang({ calls: ["pullImage"], id: SLOW }));
    endOf(node, "b");
    await node.clock.advance(2000);
    // Three turns of the pod while b's image is being pulled again.
    for (let turn = 0; turn < 3; turn += 1) {
      endOf(node, "a");
      await node.clock.advance(90_000);
    }
    again.release();
    await node.clock.advance(1000);
    expect(running(node)).toEqual(["a/3", "b/1"]);
    node.kill();
  });

  it("a failure of the pull is told, and backed off", async () => {
    const { node, release } = slowNode();
    await node.clock.advance(20_000);
    endOf(node, "a");
    await node.clock.advance(10_000);
    node.images.failPull({ reference: SLOW, error: new NodeletError("internal", "no such manifest") });
    release();
    await node.clock.advance(1000);
    const waiting = (): unknown => viewOf(node, "u1")?.status?.containerStatuses?.[1]?.state?.waiting;
    expect(waiting()).toMatchObject({ reason: "ErrImagePull", message: "no such manifest" });
    node.images.failPull({ reference: SLOW, error: undefined });
    await node.clock.advance(15_000);
    expect(running(node)).toEqual(["a/1", "b/0"]);
    node.kill();
  });

  it("the pod's active deadline is kept", async () => {
    const { node } = slowNode({ activeDeadlineSeconds: 60 });
    await node.clock.advance(62_000);
    expect(viewOf(node, "u1")?.status).toMatchObject({ phase: "Failed", reason: "DeadlineExceeded" });
    expect(node.images.calls.map(({ outcome }) => outcome)).toEqual(["cancelled"]);
    await node.clock.advance(30_000);
    expect(running(node)).toEqual([]);
    node.kill();
  });

  it("another image that the pod names meanwhile is pulled in its place", async () => {
    const node = new SimulatedNode();
    node.images.add(IMAGE);
    node.images.offer(SLOW);
    node.images.offer("localhost/fast:1");
    node.images.hang({ calls: ["pullImage"], id: SLOW });
    const pod = (image: string): Pod => ({
      metadata: { name: "web" },
      spec: { containers: [FAST, { ...WAITING, image }] },
    });
    node.pods.apply(pod(SLOW));
    node.start();
    await node.clock.advance(20_000);
    node.pods.apply(pod("localhost/fast:1"));
    await node.clock.advance(2000);
    expect(running(node)).toEqual(["a/0", "b/0"]);
    expect(node.images.calls.map(({ outcome }) => outcome)).toEqual(["cancelled", "ok"]);
    node.kill();
  });

  it("a container whose image was changed to that one holds up no other", async () => {
    const node = new SimulatedNode();
    node.images.add(IMAGE);
    node.images.offer(SLOW);
    const hang = node.images.hang({ calls: ["pullImage"], id: SLOW });
    const pod = (image: string): Pod => ({
      metadata: { name: "web" },
      spec: { terminationGracePeriodSeconds: 2, containers: [FAST, { ...WAITING, image }] },
    });
    node.pods.apply(pod(IMAGE));
    node.start();
    await node.clock.advance(20_000);
    node.pods.apply(pod(SLOW));
    await node.clock.advance(20_000);
    endOf(node, "a");
    await node.clock.advance(20_000);
    expect(running(node)).toEqual(["a/1"]);
    hang.release();
    await node.clock.advance(2000);
    expect(running(node)).toEqual(["a/1", "b/1"]);
    node.kill();
  });

  it("news without end keep nothing else from being done", async () => {
    const source = new SetSource();
    const node = nodeWith(source, {
      runtime: { latencyMs: () => 30 },
      decorate: (ports) => ({
        ...ports,
        images: wrapMethods(ports.images, (name, real) => async (...args) => {
          if (name === "imageStatus") await new Promise<void>((resolve) => ports.clock.setTimer(20, resolve));
          return real(...args);
        }),
      }),
    });
    node.images.offer(SLOW);
    node.images.hang({ calls: ["pullImage"], id: SLOW });
    const pod = staticPod({ name: "web", uid: "u1" }, { containers: [FAST, WAITING] });
    source.set(pod);
    node.start();
    for (let edit = 0; edit < 1000; edit += 1) {
      source.set({ ...pod, metadata: { ...pod.metadata, labels: { edit: String(edit) } } });
      await node.clock.advance(5);
    }
    expect(running(node)).toEqual(["a/0"]);
    expect(node.images.calls).toHaveLength(1);
    node.kill();
  });

  it.each(["the pod goes", "the agent stops"])("the pull is given up when %s", async (what) => {
    const { node, source } = slowNode();
    await node.clock.advance(20_000);
    endOf(node, "a");
    await node.clock.advance(10_000);
    if (what === "the pod goes") source.set();
    else await node.stop();
    await node.clock.advance(1000);
    expect(node.images.calls.map(({ outcome }) => outcome)).toEqual(["cancelled"]);
    if (what === "the pod goes") await node.clock.advance(MINUTE);
    expect(node.runtime.sandboxes()).toHaveLength(what === "the pod goes" ? 0 : 1);
    node.kill();
  });
});
