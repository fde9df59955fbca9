import type { PlanStep, PodPlan } from "../pod-plan.ts";

/** One line a step, in the plan's order: what is done to whom. */
export function outline(plan: PodPlan): readonly string[] {
  return plan.steps.map(line);
}

/** Names of the containers that the plan starts, in the plan's order. */
export function started(plan: PodPlan): readonly string[] {
  return plan.steps.filter((step) => step.kind === "startContainer").map((step) => step.containerName);
}

/** Ids of the containers that the plan kills. */
export function killed(plan: PodPlan): readonly string[] {
  return plan.steps.filter((step) => step.kind === "killContainer").map((step) => step.containerId);
}

/** The step of that id; fails when the plan has none. */
export function stepOf<K extends PlanStep["kind"]>(plan: PodPlan, kind: K, id: string): Extract<PlanStep, { kind: K }> {
  const step = plan.steps.find((candidate) => candidate.id === id && candidate.kind === kind);
  if (step === undefined) throw new Error(`the plan has no ${kind} ${id}: ${outline(plan).join(", ")}`);
  return step as Extract<PlanStep, { kind: K }>;
}

/** Every step that the step waits for, directly or not. Throws when the graph has a cycle or an edge that leads nowhere. */
export function ancestors(plan: PodPlan, id: string, path: readonly string[] = []): ReadonlySet<string> {
  if (path.includes(id)) throw new Error(`cycle: ${[...path, id].join(" -> ")}`);
  const step = plan.steps.find((candidate) => candidate.id === id);
  if (step === undefined) throw new Error(`${path.at(-1)} waits for ${id}, which is no step`);
  const edges = [...step.needs, ...step.after, ...(step.kind === "killContainer" ? step.stopAfter : [])];
  return new Set(edges.flatMap((edge) => [edge, ...ancestors(plan, edge, [...path, id])]));
}

function line(step: PlanStep): string {
  switch (step.kind) {
    case "killContainer":
      return `kill ${step.containerId} ${step.reason.code} ${step.graceSeconds}s`;
    case "removeContainer":
      return `remove ${step.containerId}`;
    case "stopSandbox":
      return `stop ${step.sandboxId}`;
    case "runSandbox":
      return `run sandbox ${step.attempt}`;
    case "ensureImage":
      return `image ${step.containerName}`;
    case "createContainer":
      return `create ${step.containerName} ${step.restartCount}`;
    case "startContainer":
      return `start ${step.containerName}`;
  }
}
