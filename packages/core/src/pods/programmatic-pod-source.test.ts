import { SeededRandom, VirtualClock } from "@nodelet/testkit";
import { describe, expect, it } from "vitest";
import type { Pod } from "../api/index.ts";
import { isErrorOfKind } from "../errors/index.ts";
import { ProgrammaticPodSource } from "./programmatic-pod-source.ts";

const POD: Pod = { metadata: { name: "web" }, spec: { containers: [{ name: "app", image: "web:1" }] } };

function setUp() {
  const clock = new VirtualClock();
  const source = new ProgrammaticPodSource({ clock, random: new SeededRandom(1), nodeName: "node-a" });
  const sets: string[][] = [];
  const stop = new AbortController();
  const done = source.run({
    onPods: (pods) => sets.push(pods.map(({ metadata }) => `${metadata?.name}@${metadata?.generation}`)),
    signal: stop.signal,
  });
  return { clock, source, sets, stop, done };
}

function kindOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return ["invalid", "notFound", "conflict"].find((kind) => isErrorOfKind(error, kind as "invalid")) ?? "other";
  }
  return "none";
}

describe("apply", () => {
  it("creates a pod with UID, generation, time, node and defaults", () => {
    const { source, sets } = setUp();
    const pod = source.apply(POD);
    expect(pod.metadata).toMatchObject({
      name: "web",
      namespace: "default",
      generation: 1,
      creationTimestamp: "2026-01-01T00:00:00Z",
    });
    expect(pod.metadata?.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(pod.spec).toMatchObject({ nodeName: "node-a", restartPolicy: "Always", terminationGracePeriodSeconds: 30 });
    expect(pod.status).toEqual({ phase: "Pending" });
    expect(sets).toEqual([[], ["web@1"]]);
  });

  it("of the same again is no news", () => {
    const { source, sets } = setUp();
    const pod = source.apply(POD);
    expect(source.apply(POD)).toBe(pod);
    expect(sets).toHaveLength(2);
  });

  it("changes the image and counts the generation; labels change without it", () => {
    const { source } = setUp();
    const { uid } = source.apply(POD).metadata ?? {};
    const labelled = source.apply({ ...POD, metadata: { name: "web", labels: { a: "b" } } });
    expect(labelled.metadata).toMatchObject({ uid, generation: 1, labels: { a: "b" } });
    const updated = source.apply({ ...POD, spec: { containers: [{ name: "app", image: "web:2" }] } });
    expect(updated.metadata).toMatchObject({ uid, generation: 2 });
  });

  it("refuses what is no pod at all, naming the field, and is not touched by later changes of its input", () => {
    const { source } = setUp();
    const loop: Record<string, unknown> = {};
    loop["self"] = loop;
    const wrong: unknown[] = [
      null,
      5,
      "pod",
      [],
      { spec: { containers: "x" } },
      { metadata: loop, spec: loop },
      { spec: { containers: [{ name: "a", tty: "yes" }] } },
      { metadata: { name: () => 1 } },
    ];
    for (const value of wrong) expect(kindOf(() => source.apply(value as Pod))).toBe("invalid");
    expect(() =>
      source.apply({
        metadata: { name: "web" },
        spec: { containers: [{ name: "a", image: "i", tty: "yes" }] },
      } as unknown as Pod),
    ).toThrow('invalid pod: spec.containers[0].tty: expected a boolean (true or false), found the string "yes"');
    const input = structuredClone(POD);
    const pod = source.apply(input);
    input.spec = { containers: [] };
    expect(pod.spec?.containers).toHaveLength(1);
  });

  it("refuses what is invalid, what may not change, and a pod that is going", () => {
    const { source, sets } = setUp();
    expect(kindOf(() => source.apply({ metadata: { name: "Web" }, spec: { containers: [] } }))).toBe("invalid");
    source.apply(POD);
    expect(
      kindOf(() =>
        source.apply({ ...POD, spec: { containers: [{ name: "app", image: "web:1" }], hostNetwork: true } }),
      ),
    ).toBe("invalid");
    expect(kindOf(() => source.apply({ ...POD, metadata: { name: "web", uid: "another" } }))).toBe("conflict");
    source.delete({ name: "web" });
    expect(kindOf(() => source.apply(POD))).toBe("conflict");
    expect(sets).toEqual([[], ["web@1"], ["web@2"]]);
  });
});

describe("delete", () => {
  it("marks the pod and keeps it until the agent is done", async () => {
    const { source, sets } = setUp();
    const pod = source.apply(POD);
    source.delete({ name: "web", graceSeconds: 10 });
    // metadata rules of graceful deletion: the time at which the grace ends, and a new generation.
    expect(source.get({ name: "web" })?.metadata).toMatchObject({
      deletionTimestamp: "2026-01-01T00:00:10Z",
      deletionGracePeriodSeconds: 10,
      generation: 2,
    });
    expect(await source.statusSink.podFinished({ pod })).toEqual({ kind: "accepted" });
    expect(source.get({ name: "web" })).toBeUndefined();
    expect(sets.at(-1)).toEqual([]);
    expect(await source.statusSink.podFinished({ pod })).toEqual({ kind: "gone" });
  });

  it.each([
    [undefined, 30],
    [0, 1],
    [5, 5],
  ])("with grace %s gives %d seconds", (graceSeconds, grace) => {
    const { source } = setUp();
    source.apply(POD);
    source.delete({ name: "web", ...(graceSeconds !== undefined && { graceSeconds }) });
    expect(source.get({ name: "web" })?.metadata?.deletionGracePeriodSeconds).toBe(grace);
  });

  it("again only shortens, and moves the time back by as much", async () => {
    const { source, clock, sets } = setUp();
    source.apply(POD);
    source.delete({ name: "web", graceSeconds: 120 });
    await clock.advance(5000);
    source.delete({ name: "web", graceSeconds: 200 });
    source.delete({ name: "web", graceSeconds: 20 });
    expect(source.get({ name: "web" })?.metadata).toMatchObject({
      deletionTimestamp: "2026-01-01T00:00:20Z",
      deletionGracePeriodSeconds: 20,
      generation: 2,
    });
    expect(sets).toHaveLength(4);
  });

  it("by force, or of a pod that has ended, removes it at once", async () => {
    const { source, sets } = setUp();
    source.apply(POD);
    source.delete({ name: "web", force: true });
    expect(sets.at(-1)).toEqual([]);
    const pod = source.apply(POD);
    await source.statusSink.writeStatus({ pod, status: { phase: "Succeeded" } });
    source.delete({ name: "web" });
    expect(source.list()).toEqual([]);
  });

  it("refuses what it cannot do", () => {
    const { source } = setUp();
    expect(kindOf(() => source.delete({ name: "web" }))).toBe("notFound");
    source.apply(POD);
    expect(kindOf(() => source.delete({ name: "web", graceSeconds: -1 }))).toBe("invalid");
    expect(kindOf(() => source.delete({ name: "web", namespace: "other" }))).toBe("notFound");
  });
});

describe("other changes", () => {
  it("resize", () => {
    const { source } = setUp();
    source.apply({
      ...POD,
      spec: { containers: [{ name: "app", image: "web:1", resources: { requests: { cpu: "100m" } } }] },
    });
    const resized = source.resize({
      name: "web",
      containers: [{ name: "app", resources: { requests: { cpu: "0.2" } } }],
    });
    expect(resized.metadata?.generation).toBe(2);
    expect(resized.spec?.containers[0]?.resources).toEqual({ requests: { cpu: "200m" } });
    expect(
      source.resize({ name: "web", containers: [{ name: "app", resources: { requests: { cpu: "200m" } } }] }),
    ).toBe(resized);
    expect(kindOf(() => source.resize({ name: "web", containers: [{ name: "x", resources: {} }] }))).toBe("notFound");
    expect(
      kindOf(() =>
        source.resize({ name: "web", containers: [{ name: "app", resources: { requests: { cpu: "-1" } } }] }),
      ),
    ).toBe("invalid");
  });

  it("add an ephemeral container, which later updates keep", () => {
    const { source } = setUp();
    source.apply(POD);
    const debug = { name: "debug", image: "tools:1", targetContainerName: "app" };
    expect(source.addEphemeralContainer({ name: "web", container: debug }).spec?.ephemeralContainers).toMatchObject([
      { ...debug, imagePullPolicy: "IfNotPresent" },
    ]);
    expect(kindOf(() => source.addEphemeralContainer({ name: "web", container: debug }))).toBe("invalid");
    expect(kindOf(() => source.addEphemeralContainer({ name: "web", container: { ...debug, name: "app" } }))).toBe(
      "invalid",
    );
    const updated = source.apply({ ...POD, spec: { containers: [{ name: "app", image: "web:2" }] } });
    expect(updated.spec?.ephemeralContainers).toHaveLength(1);
    expect(updated.metadata?.generation).toBe(3);
  });
});

describe("the status sink", () => {
  it("keeps the status for readers and for the next set, and tells nobody by itself", async () => {
    const { source, sets } = setUp();
    const pod = source.apply(POD);
    expect(await source.statusSink.writeStatus({ pod, status: { phase: "Running" } })).toEqual({ kind: "accepted" });
    expect(source.get({ name: "web" })?.status?.phase).toBe("Running");
    expect(sets).toHaveLength(2);
  });

  it("knows pods by UID: the status of an earlier pod of the name is nobody's", async () => {
    const { source } = setUp();
    const old = source.apply(POD);
    source.delete({ name: "web", force: true });
    source.apply(POD);
    expect(await source.statusSink.writeStatus({ pod: old, status: { phase: "Failed" } })).toEqual({ kind: "gone" });
    expect(await source.statusSink.podFinished({ pod: old })).toEqual({ kind: "gone" });
    expect(source.get({ name: "web" })?.status?.phase).toBe("Pending");
  });

  it("keeps a pod that ended but was not deleted", async () => {
    const { source } = setUp();
    const pod = source.apply(POD);
    expect(await source.statusSink.podFinished({ pod })).toEqual({ kind: "accepted" });
    expect(source.list()).toHaveLength(1);
  });
});

it("delivers until its signal fires", async () => {
  const { source, sets, stop, done } = setUp();
  stop.abort();
  await done;
  source.apply(POD);
  expect(sets).toEqual([[]]);
});
