import { describe, expect, it } from "vitest";
import type {
  ContainerSummary,
  CriContainerState,
  CriContainerStatus,
  SandboxState,
  SandboxSummary,
} from "../../ports/runtime-types.ts";
import { instance, sandbox } from "../observed-pod.test-support.ts";
import { emptyObservedPod } from "../observed-pod.ts";
import { groupListing, type PodListing, sameListing } from "./listing.ts";
import { keepNewer, toObservedContainer, toObservedPod, toObservedSandbox } from "./observed.ts";

const labels = (uid: string, containerName?: string): Record<string, string> => ({
  "io.kubernetes.pod.uid": uid,
  "io.kubernetes.pod.name": `pod-${uid}`,
  "io.kubernetes.pod.namespace": "default",
  ...(containerName !== undefined && { "io.kubernetes.container.name": containerName }),
});

function sandboxRow(id: string, uid: string, state: SandboxState = "SANDBOX_READY"): SandboxSummary {
  const metadata = { name: `pod-${uid}`, uid, namespace: "default", attempt: 0 };
  return { id, metadata, state, createdAtNs: 1n, labels: labels(uid), annotations: {}, runtimeHandler: "" };
}

function containerRow(id: string, uid: string, state: CriContainerState = "CONTAINER_RUNNING"): ContainerSummary {
  return {
    id,
    sandboxId: "s1",
    metadata: { name: "app", attempt: 0 },
    image: { image: "" },
    imageRef: "",
    imageId: "",
    state,
    createdAtNs: 1n,
    labels: labels(uid, "app"),
    annotations: {},
  };
}

const listing = (sandboxes: SandboxSummary[], containers: ContainerSummary[]): PodListing =>
  groupListing(sandboxes, containers).pods.get("u1") as PodListing;

describe("groupListing", () => {
  it("groups rows by the pod UID of their labels, a container without sandbox too", () => {
    const { pods } = groupListing([sandboxRow("s1", "u1")], [containerRow("c2", "u2"), containerRow("c1", "u1")]);
    expect([...pods.keys()]).toEqual(["u1", "u2"]);
    expect(pods.get("u2")).toMatchObject({ uid: "u2", name: "pod-u2", namespace: "default", sandboxes: [] });
    expect(pods.get("u1")?.containers.map(({ id }) => id)).toEqual(["c1"]);
  });

  it("counts rows that no kubelet made, and leaves them out", () => {
    const foreign = { ...sandboxRow("f1", "u9"), labels: {} };
    const half = { ...containerRow("f2", "u1"), labels: labels("u1") };
    expect(groupListing([foreign], [half])).toEqual({ pods: new Map(), foreign: { sandboxes: 1, containers: 1 } });
  });

  it("does not take a label's name for data of every object", () => {
    const inherited = { ...sandboxRow("f1", "u9"), labels: Object.create({ "io.kubernetes.pod.uid": "u9" }) };
    expect(groupListing([inherited], []).foreign.sandboxes).toBe(1);
  });

  it("is the same whatever the order of the rows", () => {
    const rows = [containerRow("c1", "u1"), containerRow("c2", "u1")];
    expect(sameListing(listing([], rows), listing([], [...rows].reverse()))).toBe(true);
  });
});

describe("sameListing", () => {
  const base = listing([sandboxRow("s1", "u1")], [containerRow("c1", "u1")]);

  it.each([
    ["a container's state", listing([sandboxRow("s1", "u1")], [containerRow("c1", "u1", "CONTAINER_EXITED")])],
    ["a sandbox's state", listing([sandboxRow("s1", "u1", "SANDBOX_NOTREADY")], [containerRow("c1", "u1")])],
    ["one container more", listing([sandboxRow("s1", "u1")], [containerRow("c1", "u1"), containerRow("c2", "u1")])],
    ["another container", listing([sandboxRow("s1", "u1")], [containerRow("c3", "u1")])],
  ])("sees %s", (_name, other) => {
    expect(sameListing(base, other)).toBe(false);
  });
});

describe("toObservedContainer", () => {
  const status: CriContainerStatus = {
    id: "c1",
    metadata: { name: "app", attempt: 2 },
    state: "CONTAINER_EXITED",
    createdAtNs: 5n,
    startedAtNs: 1_767_225_600_123_456_789n,
    finishedAtNs: 1_767_225_601_000_000_000n,
    exitCode: 3,
    image: { image: "example.com/app:1" },
    imageRef: "sha256:1",
    imageId: "sha256:1",
    reason: "Error",
    message: "",
    labels: labels("u1", "app"),
    annotations: { "io.kubernetes.container.hash": "8e45cbd0", "io.kubernetes.container.restartCount": "2" },
    mounts: [],
    logPath: "/var/log/pods/x/app/2.log",
  };

  it("reads state, times in milliseconds, hash and restart count", () => {
    expect(toObservedContainer({ status, sandboxId: "s1", terminationMessage: "bye" })).toMatchObject({
      name: "app",
      state: "exited",
      startedAtMs: 1_767_225_600_123,
      finishedAtMs: 1_767_225_601_000,
      hash: "8e45cbd0",
      restartCount: 2,
      terminationMessage: "bye",
    });
  });

  it.each([
    [undefined, 0],
    ["", 0],
    ["-1", 0],
    ["3.5", 0],
    ["abc", 0],
    ["99999999999999", 0],
    ["9999999999", 2_147_483_647],
    ["7", 7],
  ])("takes restart count %j for %d", (text, expected) => {
    const annotations: Record<string, string> =
      text === undefined ? {} : { "io.kubernetes.container.restartCount": text };
    expect(toObservedContainer({ status: { ...status, annotations }, sandboxId: "s1" }).restartCount).toBe(expected);
  });

  it("has no times that the runtime did not tell, and no end while it runs", () => {
    const running: CriContainerStatus = { ...status, state: "CONTAINER_RUNNING", startedAtNs: 0n };
    expect(toObservedContainer({ status: running, sandboxId: "s1" })).toMatchObject({
      startedAtMs: undefined,
      finishedAtMs: undefined,
      state: "running",
    });
  });

  it("falls back to the metadata's name, and to unknown for a state of a later contract", () => {
    const odd = { ...status, labels: {}, state: "CONTAINER_PAUSED" as CriContainerState };
    expect(toObservedContainer({ status: odd, sandboxId: "s1" })).toMatchObject({ name: "app", state: "unknown" });
  });
});

describe("toObservedSandbox", () => {
  it("tells no network block from one without address", () => {
    const row = sandboxRow("s1", "u1");
    expect(toObservedSandbox(row).ips).toBeUndefined();
    expect(toObservedSandbox({ ...row, ips: [""] }).ips).toEqual([]);
    expect(
      toObservedSandbox({ ...row, ips: ["10.0.0.1", "fd00::1"], namespaceOptions: { network: "NODE" } }),
    ).toMatchObject({
      ips: ["10.0.0.1", "fd00::1"],
      networkMode: "NODE",
      ready: true,
    });
  });
});

describe("toObservedPod and keepNewer", () => {
  const ref = { uid: "u1", name: "web", namespace: "default" };

  it("orders sandboxes by attempt and containers by creation, newest first", () => {
    const pod = toObservedPod({
      ...ref,
      sandboxes: [
        sandbox("a", { attempt: 1, createdAtNs: 1n }),
        sandbox("b", { attempt: 2, createdAtNs: 0n }),
        sandbox("c", { attempt: 2, createdAtNs: 3n }),
      ],
      containers: [instance("x", { ageMs: 20 }), instance("y", { ageMs: 10 }), instance("z", { ageMs: 30 })],
      lookedAtMs: 1,
    });
    expect(pod.sandboxes.map(({ id }) => id)).toEqual(["c", "b", "a"]);
    expect(pod.containers.map(({ name }) => name)).toEqual(["y", "x", "z"]);
  });

  it("never lets an earlier look replace a later one", () => {
    const earlier = emptyObservedPod({ ...ref, lookedAtMs: 1 });
    const later = emptyObservedPod({ ...ref, lookedAtMs: 2 });
    expect(keepNewer(undefined, earlier)).toBe(earlier);
    expect(keepNewer(earlier, later)).toBe(later);
    expect(keepNewer(later, earlier)).toBe(later);
  });
});
