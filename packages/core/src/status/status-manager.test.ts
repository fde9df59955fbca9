import { RecordingStatusSink, silentLogger, VirtualClock } from "@nodelet/testkit";
import { afterEach, describe, expect, it } from "vitest";
import type { Pod, PodStatus } from "../api/index.ts";
import { NodeletError } from "../errors/nodelet-error.ts";
import type { PodStatusSink } from "../ports/pod-status-sink.ts";
import { podOf } from "../runtime/observed-pod.test-support.ts";
import { ended, RUNNING, statusOf } from "./status.test-support.ts";
import { StatusManager } from "./status-manager.ts";

const clock = new VirtualClock();
const runs: { readonly stop: AbortController; readonly done: Promise<void> }[] = [];

function start(
  sink: PodStatusSink = new RecordingStatusSink({ clock }),
  onChange?: (uid: string) => void,
): StatusManager {
  const manager = new StatusManager({ ports: { clock, logger: silentLogger, sink }, ...(onChange && { onChange }) });
  const stop = new AbortController();
  runs.push({ stop, done: manager.run(stop.signal) });
  return manager;
}

afterEach(async () => {
  for (const { stop } of runs) stop.abort();
  await clock.drive(Promise.all(runs.map(({ done }) => done)));
  runs.length = 0;
  if (clock.pendingTimers > 0) throw new Error(`${clock.pendingTimers} timers are left behind`);
});

const pod = podOf();
const deleted = (of: Pod = pod): Pod => ({
  ...of,
  metadata: { ...of.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
});
const phase = (name: string, more: Partial<PodStatus> = {}): PodStatus => ({ phase: name, ...more });

describe("StatusManager", () => {
  it("writes each change once, and nothing when nothing changed", async () => {
    const sink = new RecordingStatusSink();
    const manager = start(sink);
    manager.set(pod, phase("Pending"));
    await clock.settle();
    manager.set(pod, phase("Pending", { conditions: [] }));
    await clock.advance(60_000);
    expect(sink.history("u1")).toEqual([phase("Pending")]);
    manager.set(pod, phase("Running"));
    await clock.settle();
    expect(sink.phases("u1")).toEqual(["Pending", "Running"]);
    expect(manager.get("u1")).toEqual(phase("Running"));
  });

  it("writes a pod that was forgotten and came back only after the last write of its earlier life", async () => {
    const landed: (string | undefined)[] = [];
    const slow = Promise.withResolvers<void>();
    const sink: PodStatusSink = {
      writeStatus: async ({ status }) => {
        if (status.phase === "Failed") await slow.promise;
        landed.push(status.phase);
        return { kind: "accepted" };
      },
      podFinished: async () => ({ kind: "accepted" }),
    };
    const manager = start(sink);
    manager.set(pod, phase("Failed"));
    await clock.settle();
    manager.forget("u1");
    manager.set(pod, phase("Pending"));
    await clock.settle();
    expect(landed).toEqual([]);
    slow.resolve();
    await clock.settle();
    expect(landed).toEqual(["Failed", "Pending"]);
  });

  it("writes nothing before it runs, then the newest status only", async () => {
    const sink = new RecordingStatusSink();
    const manager = new StatusManager({ ports: { clock, logger: silentLogger, sink } });
    manager.set(pod, phase("Pending"));
    manager.set(pod, phase("Running"));
    await clock.settle();
    expect(sink.written).toEqual([]);
    const stop = new AbortController();
    runs.push({ stop, done: manager.run(stop.signal) });
    await clock.settle();
    expect(sink.history("u1")).toEqual([phase("Running")]);
  });

  it("has one write a pod under way, skips what is outdated meanwhile, and lets other pods go on", async () => {
    const writes: string[] = [];
    let open: () => void = () => undefined;
    const sink: PodStatusSink = {
      writeStatus: async ({ pod: { metadata }, status }) => {
        writes.push(`${metadata?.uid} ${status.phase}`);
        if (metadata?.uid === "u1" && writes.length === 1) await new Promise<void>((resolve) => (open = resolve));
        return { kind: "accepted" };
      },
      podFinished: async () => ({ kind: "accepted" }),
    };
    const manager = start(sink);
    manager.set(pod, phase("Pending"));
    await clock.settle();
    manager.set(pod, phase("Running"));
    manager.set(pod, phase("Failed"));
    manager.set(podOf({}, { metadata: { uid: "u2" } }), phase("Pending"));
    await clock.settle();
    expect(writes).toEqual(["u1 Pending", "u2 Pending"]);
    open();
    await clock.settle();
    expect(writes).toEqual(["u1 Pending", "u2 Pending", "u1 Failed"]);
  });

  it.each<[string, Parameters<RecordingStatusSink["respond"]>[0], number]>([
    ["retryAfter", () => ({ kind: "retryAfter", delayMs: 3000, message: "busy" }), 3000],
    ["forbidden", () => ({ kind: "forbidden", message: "no" }), 10_000],
    ["unavailable", () => new NodeletError("unavailable", "gone for lunch"), 10_000],
    ["unknownOutcome", () => new NodeletError("unknownOutcome", "may be"), 10_000],
    ["conflict", () => ({ kind: "conflict" }), 100],
  ])("writes again after %s", async (_name, responder, afterMs) => {
    const sink = new RecordingStatusSink();
    const accept = sink.respond(responder);
    const manager = start(sink);
    manager.set(pod, phase("Running"));
    await clock.settle();
    accept();
    await clock.advance(afterMs - 1);
    expect(sink.written).toEqual([]);
    await clock.advance(1);
    expect(sink.history("u1")).toEqual([phase("Running")]);
  });

  it("gives a sink that hangs up and writes again", async () => {
    let calls = 0;
    const sink: PodStatusSink = {
      writeStatus: () => {
        calls += 1;
        return calls === 1 ? new Promise(() => undefined) : Promise.resolve({ kind: "accepted" });
      },
      podFinished: async () => ({ kind: "accepted" }),
    };
    start(sink).set(pod, phase("Running"));
    await clock.advance(39_999);
    expect(calls).toBe(1);
    await clock.advance(1);
    expect(calls).toBe(2);
  });

  it("asks less and less often while conflicts go on", async () => {
    const sink = new RecordingStatusSink();
    let tries = 0;
    sink.respond(() => {
      tries += 1;
      return { kind: "conflict" };
    });
    start(sink).set(pod, phase("Running"));
    await clock.advance(60_000);
    // 0.1, 0.2, ... 6.4 s, then every 10 s: 7 tries within 12.7 s, one at each further 10 s.
    expect(tries).toBe(12);
  });

  it("sends nothing more about a pod whose object is gone", async () => {
    const sink = new RecordingStatusSink();
    let tries = 0;
    sink.respond(() => {
      tries += 1;
      return { kind: "gone" };
    });
    const manager = start(sink);
    manager.set(pod, phase("Running"));
    await clock.settle();
    manager.set(pod, phase("Failed"));
    await clock.advance(60_000);
    expect(tries).toBe(1);
    expect(manager.get("u1")).toEqual(phase("Failed"));
  });

  it("sends the status again when the source shows an object that was said to be gone", async () => {
    const sink = new RecordingStatusSink();
    const isBack = sink.respond(() => ({ kind: "gone" }));
    const manager = start(sink);
    manager.set(pod, phase("Running"));
    await clock.settle();
    isBack();
    manager.reconcile(pod);
    await clock.settle();
    expect(sink.phases("u1")).toEqual(["Running"]);
  });

  it("drops an update that revives a container which ended for good", async () => {
    const never = podOf({ restartPolicy: "Never" });
    const sink = new RecordingStatusSink();
    const manager = start(sink);
    const failed = phase("Running", { containerStatuses: [statusOf("app", ended(1))] });
    manager.set(never, failed);
    expect(manager.set(never, phase("Running", { containerStatuses: [statusOf("app", RUNNING)] }))).toEqual(failed);
    await clock.settle();
    expect(sink.history("u1")).toEqual([failed]);
  });

  it("never leaves a terminal phase, not even that of the source", () => {
    const manager = start();
    manager.set(pod, phase("Failed", { reason: "Evicted" }));
    expect(manager.set(pod, phase("Succeeded"))).toEqual(phase("Failed", { reason: "Evicted" }));
    const over = podOf({}, { metadata: { uid: "u2" }, status: phase("Succeeded") });
    expect(manager.set(over, phase("Running")).phase).toBe("Succeeded");
  });

  it("tells the end of a pod only when its containers stopped", async () => {
    const sink = new RecordingStatusSink();
    const manager = start(sink);
    manager.set(pod, phase("Running", { containerStatuses: [statusOf("app", RUNNING)] }));
    await clock.settle();
    const held = manager.set(
      pod,
      phase("Failed", { reason: "Evicted", containerStatuses: [statusOf("app", RUNNING)] }),
    );
    expect(held.phase).toBe("Failed");
    await clock.settle();
    expect(sink.phases("u1")).toEqual(["Running"]);
    manager.set(pod, phase("Failed", { reason: "Evicted", containerStatuses: [statusOf("app", ended(137))] }));
    await clock.settle();
    expect(sink.phases("u1")).toEqual(["Running", "Failed"]);
    expect(sink.last("u1")?.reason).toBe("Evicted");
  });

  it("closes the status of a pod that ended", async () => {
    const sink = new RecordingStatusSink();
    const manager = start(sink);
    manager.set(pod, phase("Running", { containerStatuses: [statusOf("app", RUNNING)] }));
    expect(manager.terminate(pod).phase).toBe("Failed");
    await clock.settle();
    expect(sink.last("u1")?.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(137);
  });

  it("tells that a pod is finished once, after its last status, when its deletion was asked for", async () => {
    const order: string[] = [];
    const sink: PodStatusSink = {
      writeStatus: async ({ status }) => {
        order.push(`status ${status.phase}`);
        return { kind: "accepted" };
      },
      podFinished: async () => {
        order.push("finished");
        return { kind: "accepted" };
      },
    };
    const manager = start(sink);
    manager.set(deleted(), phase("Failed"));
    manager.finished(deleted());
    await clock.advance(30_000);
    manager.finished(deleted());
    await clock.settle();
    expect(order).toEqual(["status Failed", "finished"]);
  });

  it("tells it later when the deletion is asked for later, and never of a mirror pod", async () => {
    const sink = new RecordingStatusSink();
    const manager = start(sink);
    manager.set(pod, phase("Succeeded"));
    manager.finished(pod);
    const mirror = podOf({}, { metadata: { uid: "u2", annotations: { "kubernetes.io/config.mirror": "x" } } });
    manager.set(deleted(mirror), phase("Failed"));
    manager.finished(deleted(mirror));
    await clock.advance(30_000);
    expect([...sink.finished]).toEqual([]);
    manager.reconcile(deleted());
    await clock.settle();
    expect([...sink.finished]).toEqual(["u1"]);
  });

  it("writes again what the source shows differently, but not what others wrote", async () => {
    const sink = new RecordingStatusSink();
    const manager = start(sink);
    manager.set(pod, phase("Running"));
    await clock.settle();
    const foreign = { type: "example.com/x", status: "True" };
    manager.reconcile({ ...pod, status: phase("Running", { conditions: [foreign], nominatedNodeName: "n" }) });
    await clock.settle();
    expect(sink.written).toHaveLength(1);
    manager.reconcile({ ...pod, status: phase("Pending") });
    await clock.settle();
    expect(sink.phases("u1")).toEqual(["Running"]);
    expect(sink.written).toHaveLength(2);
  });

  it("does not write to a source what it already shows", async () => {
    const sink = new RecordingStatusSink();
    start(sink).set({ ...pod, status: phase("Running") }, phase("Running"));
    await clock.advance(60_000);
    expect(sink.written).toEqual([]);
  });

  it("tells listeners of changes until they leave, and of what it forgot", () => {
    const told: string[] = [];
    const manager = start(undefined, (uid) => told.push(`changed ${uid}`));
    const leave = manager.subscribe((uid, status) => told.push(`${uid} ${status?.phase}`));
    manager.set(pod, phase("Pending"));
    manager.set(pod, phase("Pending"));
    manager.forget("u1");
    manager.forget("u1");
    leave();
    manager.set(pod, phase("Pending"));
    expect(told).toEqual(["changed u1", "u1 Pending", "changed u1", "u1 undefined", "changed u1"]);
    expect(manager.get("u1")).toEqual(phase("Pending"));
  });
});
