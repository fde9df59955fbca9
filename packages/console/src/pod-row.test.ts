import type { ContainerStatus, PodStatus } from "@nodelet/core";
import { expect, test } from "vitest";
import { decision, NOW_MS, podNamed } from "./console.test-support.ts";
import { type PodLook, podRow } from "./pod-row.ts";

function container(changes: Partial<ContainerStatus> = {}): ContainerStatus {
  return { name: "c", image: "i", imageID: "", ready: true, restartCount: 0, ...changes };
}

const row = (look: Partial<PodLook> & { status?: Partial<PodStatus> }) =>
  podRow({ pod: podNamed("web", look.status), ...look }, { nowMs: NOW_MS });

test("a running pod", () => {
  const status: Partial<PodStatus> = {
    podIP: "10.0.0.2",
    containerStatuses: [container({ state: { running: {} } })],
    conditions: [{ type: "Ready", status: "True" }],
  };
  expect(row({ status, lastDecision: decision({ container: "c" }) })).toEqual({
    uid: "uid-web",
    pod: "web",
    phase: { text: "Running", tone: "good" },
    ready: { text: "1/1", tone: "good" },
    restarts: "0",
    ip: "10.0.0.2",
    age: "5m",
    decision: { text: "c: Container started", tone: "plain" },
    isReady: true,
  });
});

test.each<[string, Partial<PodLook> & { status?: Partial<PodStatus> }, string]>([
  ["no status yet", { pod: { metadata: { name: "web" }, spec: { containers: [] } } }, "Pending"],
  [
    "creating",
    {
      status: {
        phase: "Pending",
        containerStatuses: [container({ state: { waiting: { reason: "ContainerCreating" } } })],
      },
    },
    "Pending",
  ],
  [
    "image missing",
    {
      status: {
        phase: "Pending",
        containerStatuses: [container({ state: { waiting: { reason: "ImagePullBackOff" } } })],
      },
    },
    "Pending (ImagePullBackOff)",
  ],
  [
    "crash loop",
    { status: { containerStatuses: [container({ state: { waiting: { reason: "CrashLoopBackOff" } } })] } },
    "Running (CrashLoopBackOff)",
  ],
  [
    "exited",
    { status: { containerStatuses: [container({ state: { terminated: { exitCode: 3, reason: "Error" } } })] } },
    "Running (Error)",
  ],
  [
    "exited without a reason",
    { status: { containerStatuses: [container({ state: { terminated: { exitCode: 3 } } })] } },
    "Running (exit code 3)",
  ],
  ["rejected", { status: { phase: "Failed", reason: "OutOfcpu" } }, "Failed (OutOfcpu)"],
  [
    "done",
    {
      status: {
        phase: "Succeeded",
        containerStatuses: [container({ state: { terminated: { exitCode: 0, reason: "Completed" } } })],
      },
    },
    "Succeeded",
  ],
  ["being stopped", { work: "terminating" }, "Terminating"],
  ["stopped, waiting for its end", { work: "finished" }, "Terminating"],
  ["done and stopped", { work: "finished", status: { phase: "Succeeded" } }, "Succeeded"],
])("phase: %s", (_, look, text) => {
  expect(row(look).phase.text).toBe(text);
});

test("restarts are summed, with the time since the last one", () => {
  const ended = (time: string): Partial<ContainerStatus> => ({
    restartCount: 2,
    lastState: { terminated: { exitCode: 1, finishedAt: time } },
  });
  const containerStatuses = [container(ended("2026-01-01T00:08:00Z")), container(ended("2026-01-01T00:09:50Z"))];
  expect(row({ status: { containerStatuses } }).restarts).toBe("4 (10s ago)");
});

test("a static pod's age counts from its start", () => {
  const pod = podNamed("web", { startTime: "2026-01-01T00:09:00Z" });
  delete pod.metadata?.creationTimestamp;
  expect(podRow({ pod }, { nowMs: NOW_MS }).age).toBe("60s");
});

test("names carry a namespace that is not default", () => {
  expect(podRow({ pod: podNamed("web", {}, "kube-system") }, { nowMs: NOW_MS }).pod).toBe("kube-system/web");
});

test.each([
  ["ok", "plain"],
  ["waiting", "busy"],
  ["failed", "bad"],
  ["rejected", "bad"],
] as const)("a decision that is %s looks %s", (outcome, tone) => {
  const lastDecision = decision({ outcome, count: 3 });
  expect(row({ lastDecision }).decision).toEqual({ text: "Container started (x3)", tone });
});
