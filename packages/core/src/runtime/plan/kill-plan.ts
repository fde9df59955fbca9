import type { ObservedContainer } from "../observed-pod.ts";
import type { KillCode, KillContainerStep, KillReason, PodPlan, StopSandboxStep } from "../pod-plan.ts";
import type { PodSnapshot } from "../pod-snapshot.ts";
import { type ContainerRoster, rosterOf } from "./container-roster.ts";
import { graceSeconds } from "./grace.ts";

/** How a whole pod is taken down. */
export interface KillOptions {
  /** Replaces every other source of the grace. */
  readonly graceOverrideSeconds?: number | undefined;
  /** Default: the pod ends by request. */
  readonly reason?: { readonly code: KillCode; readonly message?: string };
}

/**
 * Takes a whole pod down: every container that runs, or that the runtime has lost track of, is killed, all at once; with sidecars in the pod,
 * a sidecar's stop waits for the regular containers and for the sidecars after it (KEP-753). Then every sandbox is stopped, also those that are
 * not ready, since they may still hold an address. Every step is idempotent, so the plan may be carried out again after a failure.
 */
export function planKill(snapshot: Pick<PodSnapshot, "pod" | "observed">, options: KillOptions = {}): PodPlan {
  const kills = killSteps(snapshot, options);
  const after = kills.map((step) => step.id);
  const stops = snapshot.observed.sandboxes.map((sandbox) => stopSandboxStep(sandbox.id, after));
  return { steps: [...kills, ...stops], waiting: [], killPod: true };
}

/** Kill steps for all that may run in the pod. */
function killSteps(
  snapshot: Pick<PodSnapshot, "pod" | "observed">,
  options: KillOptions,
): readonly KillContainerStep[] {
  const roster = rosterOf(snapshot.pod);
  const steps = snapshot.observed.containers
    .filter(mayRun)
    .map((instance) =>
      killStep({ ...snapshot, roster, instance, ...options, reason: options.reason ?? { code: "deleted" } }),
    );
  const order = new Map(roster.init.filter((entry) => entry.kind === "sidecar").map((entry, at) => [entry.name, at]));
  if (order.size === 0) return steps;
  return steps.map((step) => {
    const at = order.get(step.containerName);
    if (at === undefined || step.containerKind !== "sidecar") return step;
    const later = steps.filter(
      (other) => other.containerKind === "regular" || (order.get(other.containerName) ?? -1) > at,
    );
    return { ...step, stopAfter: later.map((other) => other.id) };
  });
}

/** One kill step that waits for nothing. Its message defaults to upstream's for a pod that ends. */
export function killStep(options: {
  readonly pod: PodSnapshot["pod"];
  readonly roster: ContainerRoster;
  readonly instance: ObservedContainer;
  readonly reason: { readonly code: KillCode; readonly message?: string };
  readonly graceOverrideSeconds?: number | undefined;
}): KillContainerStep {
  const { pod, roster, instance, graceOverrideSeconds } = options;
  const entry = roster.find(instance.name);
  const reason: KillReason = {
    code: options.reason.code,
    message: options.reason.message ?? `Stopping container ${instance.name}`,
  };
  return {
    kind: "killContainer",
    id: `kill:${instance.id}`,
    needs: [],
    after: [],
    stopAfter: [],
    containerId: instance.id,
    containerName: instance.name,
    containerKind: entry?.kind ?? "regular",
    reason,
    graceSeconds: graceSeconds({
      pod,
      container: entry?.container,
      instance,
      code: reason.code,
      overrideSeconds: graceOverrideSeconds,
    }),
  };
}

/** True when a process of this instance may be alive: it runs, or the runtime cannot tell. */
export function mayRun(instance: Pick<ObservedContainer, "state">): boolean {
  return instance.state === "running" || instance.state === "unknown";
}

/** Stops a sandbox once the named steps ended. */
function stopSandboxStep(sandboxId: string, after: readonly string[]): StopSandboxStep {
  return { kind: "stopSandbox", id: `stopSandbox:${sandboxId}`, needs: [], after, sandboxId };
}
