import { describe, expect, it } from "vitest";
import type { Container } from "../../api/index.ts";
import { container, podOf } from "../observed-pod.test-support.ts";
import { shouldBeRestarted } from "./restart-decision.ts";

const exit = (exitCode: number): { readonly state: "exited"; readonly exitCode: number } => ({
  state: "exited",
  exitCode,
});
const rule = (action: string, operator: string, ...values: number[]): Partial<Container> => ({
  restartPolicyRules: [{ action, exitCodes: { operator, values } }],
});

describe("shouldBeRestarted", () => {
  it.each([
    ["Always", exit(0), true],
    ["Always", exit(1), true],
    ["OnFailure", exit(0), false],
    ["OnFailure", exit(1), true],
    ["Never", exit(0), false],
    ["Never", exit(1), false],
    ["Never", undefined, true],
    ["Always", { state: "running", exitCode: 0 }, false],
    ["Never", { state: "created", exitCode: 0 }, true],
    ["Never", { state: "unknown", exitCode: 0 }, true],
  ] as const)("pod policy %s, instance %j: %s", (restartPolicy, instance, expected) => {
    expect(shouldBeRestarted({ pod: podOf({ restartPolicy }), container: container("app"), instance })).toBe(expected);
  });

  it.each<{
    readonly rule: string;
    readonly pod: string;
    readonly own: Partial<Container>;
    readonly exitCode: number;
    readonly restarts: boolean;
  }>([
    {
      rule: "a container's policy wins over the pod's",
      pod: "Always",
      own: { restartPolicy: "Never" },
      exitCode: 1,
      restarts: false,
    },
    { rule: "also the other way round", pod: "Never", own: { restartPolicy: "Always" }, exitCode: 0, restarts: true },
    {
      rule: "a rule that matches wins over the policy",
      pod: "Never",
      own: { restartPolicy: "Never", ...rule("Restart", "In", 42) },
      exitCode: 42,
      restarts: true,
    },
    {
      rule: "a rule that does not match leaves it to the policy",
      pod: "Always",
      own: { restartPolicy: "Never", ...rule("Restart", "In", 42) },
      exitCode: 1,
      restarts: false,
    },
    {
      rule: "NotIn matches what is not listed",
      pod: "Never",
      own: { restartPolicy: "Never", ...rule("Restart", "NotIn", 0) },
      exitCode: 7,
      restarts: true,
    },
    {
      rule: "NotIn does not match what is listed",
      pod: "Never",
      own: { restartPolicy: "Never", ...rule("Restart", "NotIn", 0) },
      exitCode: 0,
      restarts: false,
    },
    {
      rule: "RestartAllContainers restarts",
      pod: "Never",
      own: { restartPolicy: "Never", ...rule("RestartAllContainers", "In", 3) },
      exitCode: 3,
      restarts: true,
    },
    {
      rule: "rules count only beside a policy of the container",
      pod: "Never",
      own: rule("Restart", "In", 42),
      exitCode: 42,
      restarts: false,
    },
  ])("$rule", ({ pod: restartPolicy, own, exitCode, restarts: expected }) => {
    const instance = exit(exitCode);
    expect(shouldBeRestarted({ pod: podOf({ restartPolicy }), container: container("app", own), instance })).toBe(
      expected,
    );
  });

  it("restarts nothing of a pod that is being deleted", () => {
    const pod = podOf({}, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } });
    expect(shouldBeRestarted({ pod, container: container("app"), instance: exit(1) })).toBe(false);
    expect(shouldBeRestarted({ pod, container: container("app"), instance: undefined })).toBe(false);
  });
});
