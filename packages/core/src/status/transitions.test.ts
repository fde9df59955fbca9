import { describe, expect, it } from "vitest";
import type { PodSpec, PodStatus } from "../api/index.ts";
import { container, NOW_MS, podOf, sidecar } from "../runtime/observed-pod.test-support.ts";
import { sameStatus } from "./equality.ts";
import { outgoingStatus } from "./outgoing-status.ts";
import { ended, RUNNING, statusOf, WAITING } from "./status.test-support.ts";
import { terminalStatus } from "./terminal-status.ts";
import { illegalTransition, withFinalPhase } from "./transitions.ts";

const regular = (state: object): PodStatus => ({ containerStatuses: [statusOf("app", state)] });
const init = (name: string, state: object): PodStatus => ({ initContainerStatuses: [statusOf(name, state)] });

describe("illegalTransition", () => {
  it.each<[string, Partial<PodSpec>, readonly [PodStatus, PodStatus], boolean]>([
    ["revived under Never", { restartPolicy: "Never" }, [regular(ended(1)), regular(RUNNING)], true],
    ["waiting again under Never", { restartPolicy: "Never" }, [regular(ended(1)), regular(WAITING)], true],
    ["a success revived under OnFailure", { restartPolicy: "OnFailure" }, [regular(ended(0)), regular(RUNNING)], true],
    [
      "a failure restarted under OnFailure",
      { restartPolicy: "OnFailure" },
      [regular(ended(1)), regular(RUNNING)],
      false,
    ],
    ["anything under Always", { restartPolicy: "Always" }, [regular(ended(0)), regular(RUNNING)], false],
    [
      "a container that is never restarted, under Always of the pod",
      { restartPolicy: "Always", containers: [container("app", { restartPolicy: "Never" })] },
      [regular(ended(1)), regular(RUNNING)],
      false,
    ],
    ["ended stays ended", { restartPolicy: "Never" }, [regular(ended(1)), regular(ended(1))], false],
    ["first start", { restartPolicy: "Never" }, [regular(WAITING), regular(RUNNING)], false],
    [
      "an init container revived",
      { restartPolicy: "Never", initContainers: [container("i")] },
      [init("i", ended(0)), init("i", RUNNING)],
      true,
    ],
    [
      "a sidecar restarted",
      { restartPolicy: "Never", initContainers: [sidecar("s")] },
      [init("s", ended(0)), init("s", RUNNING)],
      false,
    ],
    [
      "a rule restarts all",
      {
        restartPolicy: "Never",
        containers: [
          container("app"),
          container("b", {
            restartPolicy: "Never",
            restartPolicyRules: [{ action: "RestartAllContainers", exitCodes: { operator: "In", values: [1] } }],
          }),
        ],
      },
      [regular(ended(0)), regular(RUNNING)],
      false,
    ],
  ])("%s", (_name, spec, [from, to], expected) => {
    expect(illegalTransition(podOf(spec), from, to) !== undefined).toBe(expected);
  });
});

describe("withFinalPhase", () => {
  it("keeps a terminal phase with its reason and message", () => {
    const from = { phase: "Failed", reason: "Evicted", message: "m" };
    expect(withFinalPhase(from, { phase: "Running", reason: "x", message: "y" })).toEqual(from);
    expect(withFinalPhase({ phase: "Failed" }, { phase: "Succeeded", reason: "x" })).toEqual({ phase: "Failed" });
    expect(withFinalPhase({ phase: "Running" }, { phase: "Failed" })).toEqual({ phase: "Failed" });
  });
});

describe("terminalStatus", () => {
  it("closes what is open with 137, and forces Failed", () => {
    const status = terminalStatus(podOf(), { phase: "Running", ...regular(RUNNING) }, NOW_MS);
    expect(status.phase).toBe("Failed");
    expect(status.containerStatuses?.[0]).toMatchObject({
      state: { terminated: { exitCode: 137, reason: "ContainerStatusUnknown" } },
      ready: false,
    });
  });

  it("keeps ends that are known, and phases that are terminal", () => {
    const status = { phase: "Succeeded", ...regular(ended(0)) };
    expect(terminalStatus(podOf(), status, NOW_MS)).toEqual(status);
  });

  it("keeps a static pod's phase", () => {
    const pod = podOf({}, { metadata: { annotations: { "kubernetes.io/config.source": "file" } } });
    expect(terminalStatus(pod, { phase: "Running", ...regular(ended(0)) }, NOW_MS).phase).toBe("Running");
  });

  it("leaves containers waiting that never could start, since the pod never got past its init containers", () => {
    const pod = podOf({ initContainers: [container("i1"), container("i2"), container("i3")] });
    const status = terminalStatus(
      pod,
      {
        phase: "Pending",
        initContainerStatuses: [statusOf("i1", ended(0)), statusOf("i2", RUNNING), statusOf("i3", WAITING)],
        containerStatuses: [statusOf("app", WAITING)],
      },
      NOW_MS,
    );
    expect(status.initContainerStatuses?.map(({ state }) => state?.terminated?.exitCode)).toEqual([0, 137, undefined]);
    expect(status.containerStatuses?.[0]?.state).toEqual(WAITING);
  });

  it("closes the first init container of a pod in which none was seen to start", () => {
    const pod = podOf({ initContainers: [container("i1"), container("i2")] });
    const init = [statusOf("i1", WAITING), statusOf("i2", WAITING)];
    const status = terminalStatus(pod, { phase: "Pending", initContainerStatuses: init }, NOW_MS);
    expect(status.initContainerStatuses?.map(({ state }) => state?.terminated?.exitCode)).toEqual([137, undefined]);
  });

  it("says neither Ready nor ContainersReady", () => {
    const conditions = [
      { type: "Ready", status: "True", lastTransitionTime: "2025-01-01T00:00:00Z" },
      { type: "ContainersReady", status: "True" },
      { type: "PodScheduled", status: "True" },
    ];
    const status = terminalStatus(podOf(), { phase: "Running", ...regular(RUNNING), conditions }, NOW_MS);
    expect(status.conditions).toEqual([
      { type: "Ready", status: "False", reason: "PodFailed", lastTransitionTime: "2026-01-01T00:00:00Z" },
      { type: "ContainersReady", status: "False", reason: "PodFailed", lastTransitionTime: "2026-01-01T00:00:00Z" },
      { type: "PodScheduled", status: "True" },
    ]);
  });
});

describe("outgoingStatus", () => {
  const disruption = { type: "DisruptionTarget", status: "True" };
  const failed: PodStatus = { phase: "Failed", reason: "Evicted", ...regular(RUNNING), conditions: [disruption] };

  it("withholds the end while a container runs", () => {
    expect(outgoingStatus(failed, { phase: "Running" })).toEqual({
      phase: "Running",
      ...regular(RUNNING),
      conditions: [],
    });
    expect(outgoingStatus(failed, undefined).phase).toBe("Pending");
  });

  it("tells the end once nothing runs, and does not take it back", () => {
    const over = { ...failed, ...regular(ended(137)) };
    expect(outgoingStatus(over, { phase: "Running" })).toBe(over);
    expect(outgoingStatus(failed, { phase: "Failed" })).toBe(failed);
  });
});

describe("sameStatus", () => {
  it.each<[string, PodStatus, PodStatus, boolean]>([
    ["absent, null and empty", { conditions: [], podIPs: [] }, {}, true],
    [
      "an empty last state",
      regular({ waiting: {} }),
      { containerStatuses: [{ ...statusOf("app", {}), lastState: {} }] },
      true,
    ],
    [
      "times in whole seconds",
      { startTime: "2026-01-01T00:00:00Z" },
      { startTime: "2026-01-01T01:00:00.9+01:00" },
      true,
    ],
    ["other seconds", { startTime: "2026-01-01T00:00:00Z" }, { startTime: "2026-01-01T00:00:01Z" }, false],
    [
      "a message that looks like a time",
      { message: "2026-01-01T00:00:00Z" },
      { message: "2026-01-01T00:00:00.5Z" },
      false,
    ],
    [
      "conditions in another order",
      {
        conditions: [
          { type: "a", status: "True" },
          { type: "b", status: "True" },
        ],
      },
      {
        conditions: [
          { type: "b", status: "True" },
          { type: "a", status: "True" },
        ],
      },
      true,
    ],
    [
      "addresses in another order",
      { podIPs: [{ ip: "a" }, { ip: "b" }] },
      { podIPs: [{ ip: "b" }, { ip: "a" }] },
      false,
    ],
    ["another phase", { phase: "Running" }, { phase: "Pending" }, false],
    [
      "zero is not absent",
      { containerStatuses: [statusOf("app", ended(0))] },
      { containerStatuses: [statusOf("app", {})] },
      false,
    ],
  ])("%s", (_name, left, right, expected) => {
    expect(sameStatus(left, right)).toBe(expected);
    expect(sameStatus(right, left)).toBe(expected);
  });
});
