import type { Container, Pod } from "../../api/index.ts";
import type { ObservedContainer } from "../observed-pod.ts";
import type { KillReason } from "../pod-plan.ts";
import type { ProbeResults } from "../pod-snapshot.ts";
import { definitionChanged } from "./container-hash.ts";
import type { RosterEntry } from "./container-roster.ts";
import { effectiveRestartPolicy } from "./restart-decision.ts";

/** Why a running container has to be killed, and whether it is started again afterwards. */
export interface RunningFault {
  readonly reason: KillReason;
  readonly restart: boolean;
}

/**
 * What is wrong with a running regular container: its definition changed (restarted whatever the policy), its liveness or its startup probe
 * failed. Rules on exit codes are not read here: the container has not exited yet.
 */
export function regularFault(options: {
  readonly pod: Pod;
  readonly entry: RosterEntry;
  readonly instance: ObservedContainer;
  readonly probes: ProbeResults;
}): RunningFault | undefined {
  const { pod, entry, instance, probes } = options;
  const subject = `Container ${entry.name}`;
  if (definitionChanged(instance.hash, entry.container)) {
    return fault({ code: "definitionChanged", message: `${subject} definition changed` }, true);
  }
  const restart = effectiveRestartPolicy(pod, entry.container as Container) !== "Never";
  if (probes.liveness(instance.id) === "failure") {
    return fault({ code: "livenessFailed", message: `${subject} failed liveness probe` }, restart);
  }
  if (probes.startup(instance.id) === "failure") {
    return fault({ code: "startupFailed", message: `${subject} failed startup probe` }, restart);
  }
  return undefined;
}

/** The same for a running sidecar, which is always restarted. Its messages name it an init container, as the kubelet's do. */
export function sidecarFault(options: {
  readonly entry: RosterEntry;
  readonly instance: ObservedContainer;
  readonly probes: ProbeResults;
}): KillReason | undefined {
  const { entry, instance, probes } = options;
  const subject = `Init container ${entry.name}`;
  if (probes.startup(instance.id) === "failure") {
    return { code: "startupFailed", message: `${subject} failed startup probe` };
  }
  // A sidecar that has not started up yet is waited for; nothing else about it is judged.
  if (!hasStarted(instance, probes)) return undefined;
  if (definitionChanged(instance.hash, entry.container)) {
    return { code: "definitionChanged", message: `${subject} definition changed` };
  }
  if (probes.liveness(instance.id) === "failure") {
    return { code: "livenessFailed", message: `${subject} failed liveness probe` };
  }
  return undefined;
}

/** True when a running container counts as started: it has no startup probe, or that succeeded. */
export function hasStarted(instance: ObservedContainer, probes: ProbeResults): boolean {
  const startup = probes.startup(instance.id);
  return startup === undefined || startup === "success";
}

/** The kubelet's reason for stopping a container that the runtime has lost track of. */
export function unknownState(isInit: boolean): KillReason {
  const subject = isInit ? "Init container" : "Container";
  return { code: "unknownState", message: `${subject} is in "unknown" state, try killing it before restart` };
}

function fault(reason: KillReason, restart: boolean): RunningFault {
  return { restart, reason: restart ? { ...reason, message: `${reason.message}, will be restarted` } : reason };
}
