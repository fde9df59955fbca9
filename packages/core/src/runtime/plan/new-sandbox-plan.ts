import type { Container } from "../../api/index.ts";
import { newestInstance, type ObservedContainer } from "../observed-pod.ts";
import type { PodPlan, RemoveContainerStep, RunSandboxStep } from "../pod-plan.ts";
import type { PodSnapshot } from "../pod-snapshot.ts";
import type { ContainerRoster, RosterEntry } from "./container-roster.ts";
import { mayRun, planKill } from "./kill-plan.ts";
import { restartsAfterExit } from "./restart-decision.ts";
import type { SandboxDecision } from "./sandbox-decision.ts";
import { StartChain } from "./start-steps.ts";

/** Exit code of a container that was killed together with its sandbox. */
const KILLED_EXIT_CODE = 137;

/**
 * The plan when a new sandbox is due: all that runs in the old one is killed and every old sandbox stopped, then the new one is made and the pod
 * starts from the beginning. No sandbox is made for a pod that is over: restartPolicy Never after a first sandbox that had containers, or nothing
 * left to start in a pod whose regular containers existed.
 */
export function planWithNewSandbox(
  snapshot: PodSnapshot,
  roster: ContainerRoster,
  decision: Extract<SandboxDecision, { kind: "create" }>,
): PodPlan {
  const down = planKill(snapshot, { reason: { code: "sandboxLost" } });
  const starts = roster.regular.filter((entry) => startsAnew(snapshot, entry));
  const { observed, pod } = snapshot;
  const hadContainers = observed.containers.length > 0;
  const neverAgain = pod.spec?.restartPolicy === "Never" && decision.attempt !== 0 && hadContainers;
  const allDone = starts.length === 0 && roster.regular.some((entry) => wasCreated(snapshot, entry));
  if (neverAgain || allDone) return down;

  const ends = down.steps.map((step) => step.id);
  const removes = removeInitContainers(snapshot, roster, ends);
  const runSandbox: RunSandboxStep = {
    kind: "runSandbox",
    id: "runSandbox",
    needs: ends,
    after: removes.map((step) => step.id),
    attempt: decision.attempt,
    replaces: decision.replaces,
  };
  const chain = new StartChain({ snapshot, sandboxId: undefined });
  for (const entry of roster.init.length > 0 ? roster.init.slice(0, 1) : starts) chain.add(entry);
  return { steps: [...down.steps, ...removes, runSandbox, ...chain.steps], waiting: chain.waiting, killPod: false };
}

/** Whether a regular container runs again in the new sandbox: not when it ended, or is ended now, in a way that its policy does not restart. */
function startsAnew(snapshot: PodSnapshot, entry: RosterEntry): boolean {
  const newest = newestInstance(snapshot.observed, entry.name);
  if (newest?.state === "created") return true;
  const exitCode = newest === undefined ? snapshot.shownExitCode?.get(entry.name) : exitCodeOf(newest);
  if (exitCode === undefined) return true;
  return restartsAfterExit(snapshot.pod, entry.container as Container, exitCode);
}

function exitCodeOf(instance: ObservedContainer): number {
  return mayRun(instance) ? KILLED_EXIT_CODE : instance.exitCode;
}

function wasCreated(snapshot: PodSnapshot, entry: RosterEntry): boolean {
  const newest = newestInstance(snapshot.observed, entry.name);
  if (newest === undefined) return snapshot.shownExitCode?.has(entry.name) === true;
  return newest.state !== "unknown";
}

/** Init containers of the old sandbox go, their logs stay: they run again from the first. */
function removeInitContainers(
  snapshot: PodSnapshot,
  roster: ContainerRoster,
  after: readonly string[],
): readonly RemoveContainerStep[] {
  const names = new Set(roster.init.map((entry) => entry.name));
  return snapshot.observed.containers
    .filter((instance) => names.has(instance.name))
    .map((instance) => removeStep(instance, after));
}

/** Removes one instance once the named steps ended well. */
export function removeStep(
  instance: { readonly id: string; readonly name: string },
  needs: readonly string[] = [],
): RemoveContainerStep {
  return {
    kind: "removeContainer",
    id: `remove:${instance.id}`,
    needs,
    after: [],
    containerId: instance.id,
    containerName: instance.name,
  };
}
