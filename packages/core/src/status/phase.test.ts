import { describe, expect, it } from "vitest";
import type { ContainerStatus, Pod, PodSpec } from "../api/index.ts";
import { container, podOf, sidecar } from "../runtime/observed-pod.test-support.ts";
import { podPhase } from "./phase.ts";
import { ended, RUNNING, statusOf, WAITING } from "./status.test-support.ts";

const back = (name: string, exitCode: number): ContainerStatus =>
  statusOf(name, { waiting: { reason: "CrashLoopBackOff" } }, { lastState: ended(exitCode) });

interface Row {
  readonly rule: string;
  readonly policy?: string;
  readonly spec?: Partial<PodSpec>;
  readonly regular: readonly ContainerStatus[];
  readonly init?: readonly ContainerStatus[];
  readonly isTerminal?: boolean;
  readonly hasInitialized?: boolean;
  readonly static?: boolean;
  readonly expected: string;
}

const withInit = { initContainers: [container("i")] };
const withSidecar = { initContainers: [sidecar("s")] };
const two = { containers: [container("a"), container("b")] };

const rows: readonly Row[] = [
  { rule: "no status of a container", regular: [], expected: "Pending" },
  { rule: "waits for its first start", regular: [statusOf("app", WAITING)], expected: "Pending" },
  { rule: "runs", regular: [statusOf("app", RUNNING)], expected: "Running" },
  { rule: "one runs, one is not known", spec: two, regular: [statusOf("a", RUNNING)], expected: "Pending" },
  {
    rule: "one runs, one waits",
    spec: two,
    regular: [statusOf("a", RUNNING), statusOf("b", WAITING)],
    expected: "Pending",
  },
  {
    rule: "one runs, one is in back-off",
    spec: two,
    regular: [statusOf("a", RUNNING), back("b", 1)],
    expected: "Running",
  },
  { rule: "ended and is restarted", regular: [statusOf("app", ended(1))], expected: "Running" },
  { rule: "in back-off", regular: [back("app", 1)], expected: "Running" },
  { rule: "empty state", regular: [statusOf("app", {})], expected: "Pending" },
  { rule: "all ended well", policy: "OnFailure", regular: [statusOf("app", ended(0))], expected: "Succeeded" },
  { rule: "failed and is restarted", policy: "OnFailure", regular: [statusOf("app", ended(1))], expected: "Running" },
  { rule: "failed for good", policy: "Never", regular: [statusOf("app", ended(1))], expected: "Failed" },
  {
    rule: "one ended well, one badly, for good",
    policy: "Never",
    spec: two,
    regular: [statusOf("a", ended(0)), statusOf("b", ended(1))],
    expected: "Failed",
  },
  {
    rule: "one ended for good, one is restarted",
    policy: "OnFailure",
    spec: two,
    regular: [statusOf("a", ended(0)), statusOf("b", ended(1))],
    expected: "Running",
  },
  {
    rule: "a container's own policy decides",
    spec: { containers: [container("app", { restartPolicy: "Never" })] },
    regular: [statusOf("app", ended(2))],
    expected: "Failed",
  },
  {
    rule: "told to end, exit 0 under Always",
    isTerminal: true,
    regular: [statusOf("app", ended(0))],
    expected: "Succeeded",
  },
  {
    rule: "told to end, exit 137 under Always",
    isTerminal: true,
    regular: [statusOf("app", ended(137))],
    expected: "Failed",
  },
  {
    rule: "told to end while in back-off after success",
    isTerminal: true,
    regular: [back("app", 0)],
    expected: "Failed",
  },
  {
    rule: "a static pod does not end by being told to",
    isTerminal: true,
    static: true,
    regular: [statusOf("app", ended(0))],
    expected: "Running",
  },
  { rule: "told to end, still running", isTerminal: true, regular: [statusOf("app", RUNNING)], expected: "Running" },
  { rule: "init container without status", spec: withInit, regular: [statusOf("app", WAITING)], expected: "Pending" },
  {
    rule: "init container runs although the regular one does too",
    spec: withInit,
    init: [statusOf("i", RUNNING)],
    regular: [statusOf("app", RUNNING)],
    expected: "Pending",
  },
  {
    rule: "init container done",
    spec: withInit,
    init: [statusOf("i", ended(0))],
    regular: [statusOf("app", RUNNING)],
    expected: "Running",
  },
  {
    rule: "init container failed and is restarted",
    spec: withInit,
    init: [back("i", 1)],
    regular: [statusOf("app", WAITING)],
    expected: "Pending",
  },
  {
    rule: "init container failed for good",
    policy: "Never",
    spec: withInit,
    init: [statusOf("i", ended(1))],
    regular: [statusOf("app", WAITING)],
    expected: "Failed",
  },
  {
    rule: "init container failed for good, shown as waiting",
    policy: "Never",
    spec: withInit,
    init: [back("i", 1)],
    regular: [statusOf("app", WAITING)],
    expected: "Failed",
  },
  { rule: "sidecar without status", spec: withSidecar, regular: [statusOf("app", RUNNING)], expected: "Pending" },
  {
    rule: "sidecar not started up yet",
    spec: withSidecar,
    init: [statusOf("s", RUNNING, { started: false })],
    regular: [statusOf("app", RUNNING)],
    expected: "Pending",
  },
  {
    rule: "sidecar starting up again in a pod that was initialised",
    spec: withSidecar,
    hasInitialized: true,
    init: [statusOf("s", RUNNING, { started: false })],
    regular: [statusOf("app", RUNNING)],
    expected: "Running",
  },
  {
    rule: "sidecar waits for its first start",
    spec: withSidecar,
    hasInitialized: true,
    init: [statusOf("s", WAITING)],
    regular: [statusOf("app", RUNNING)],
    expected: "Pending",
  },
  {
    rule: "sidecar in back-off",
    spec: withSidecar,
    hasInitialized: true,
    init: [back("s", 1)],
    regular: [statusOf("app", RUNNING)],
    expected: "Running",
  },
  {
    rule: "sidecar runs on after all others ended",
    policy: "Never",
    spec: withSidecar,
    hasInitialized: true,
    init: [statusOf("s", RUNNING, { started: true })],
    regular: [statusOf("app", ended(0))],
    expected: "Running",
  },
  {
    rule: "how a sidecar ended does not matter",
    policy: "Never",
    spec: withSidecar,
    hasInitialized: true,
    init: [statusOf("s", ended(137))],
    regular: [statusOf("app", ended(0))],
    expected: "Succeeded",
  },
];

describe("podPhase", () => {
  it.each(rows)("$rule ($policy): $expected", (row) => {
    const annotations = { "kubernetes.io/config.source": row.static === true ? "file" : "api" };
    const pod: Pod = podOf({ restartPolicy: row.policy ?? "Always", ...row.spec }, { metadata: { annotations } });
    const phase = podPhase({
      pod,
      containerStatuses: row.regular,
      initContainerStatuses: row.init ?? [],
      isTerminal: row.isTerminal ?? false,
      hasInitialized: row.hasInitialized ?? false,
    });
    expect(phase).toBe(row.expected);
  });
});
