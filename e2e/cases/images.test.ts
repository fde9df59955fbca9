import type { SimulatedNode } from "@nodelet/testkit";
import { describe, expect, it } from "vitest";
import { newNode, podOf, untilPhase } from "./cases.test-support.ts";

const APP = "registry.example/team/app";

function apply(node: SimulatedNode, name: string, image: string): void {
  const imagePullPolicy = "IfNotPresent";
  node.pods.apply(podOf(name, { containers: [{ name: "c", image, command: ["server"], imagePullPolicy }] }));
}

function pulls(node: SimulatedNode): readonly string[] {
  return node.images.calls.map(({ request }) => (request["image"] as { readonly image: string }).image);
}

describe("K61 IfNotPresent by digest", () => {
  it("does not pull a digest that is there under a tag, and pulls another one", async () => {
    const node = newNode();
    const present = node.images.add({ reference: `${APP}:1`, withDigest: true });
    const [digest = ""] = present.repoDigests;
    expect(digest).toMatch(/^registry\.example\/team\/app@sha256:[0-9a-f]{64}$/);
    apply(node, "same", digest);
    await untilPhase(node, "same", "Running");
    expect(pulls(node)).toEqual([]);

    const other = `${APP}@sha256:${"5".repeat(64)}`;
    node.images.offer(other);
    apply(node, "other", other);
    await untilPhase(node, "other", "Running");
    expect(pulls(node)).toEqual([other]);
    const images = node.runtime.running().map(({ imageRef, metadata }) => [metadata.name, imageRef]);
    expect(new Set(images.map(([, ref]) => ref)).size).toBe(2);
  });

  it("runs a pod on an image that another pod pulled, without a pull of its own", async () => {
    const node = newNode();
    node.images.offer(`${APP}:2`);
    apply(node, "first", `${APP}:2`);
    await untilPhase(node, "first", "Running");
    apply(node, "second", `${APP}:2`);
    await untilPhase(node, "second", "Running");
    expect(pulls(node)).toEqual([`${APP}:2`]);
  });
});
