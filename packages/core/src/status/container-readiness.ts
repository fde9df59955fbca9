import type { ContainerStatus } from "../api/index.ts";
import type { ObservedContainer } from "../runtime/observed-pod.ts";
import type { RosterEntry } from "../runtime/plan/container-roster.ts";
import type { ProbeResults } from "../runtime/pod-snapshot.ts";

/**
 * `started`: running, and its startup probe succeeded or it has none. `ready`: started, and its readiness probe succeeded or it has none; a plain
 * init container is ready once it exited with 0. While a probe has no result for an instance that the last status knew (the agent was restarted),
 * what was shown stays.
 */
export function containerReadiness(options: {
  readonly entry: RosterEntry;
  readonly instance: ObservedContainer | undefined;
  readonly status: ContainerStatus;
  readonly previous: ContainerStatus | undefined;
  readonly probes: ProbeResults;
}): { readonly started?: boolean; readonly ready: boolean } {
  const { entry, instance, status, previous, probes } = options;
  // Ephemeral containers have no probes and nobody waits for them: the kubelet says neither of them.
  if (entry.kind === "ephemeral") return { ready: false };
  const running = status.state?.running !== undefined && instance !== undefined;
  const shown = previous?.containerID === status.containerID && previous?.state?.running !== undefined;
  const startup = running ? probes.startup(instance.id) : undefined;
  const startedBefore = startup === "unknown" && shown && previous.started === true;
  const started = running && (startup === undefined || startup === "success" || startedBefore);
  if (entry.kind === "init") return { started, ready: status.state?.terminated?.exitCode === 0 };
  if (!started) return { started, ready: false };
  const readiness = probes.readiness(instance.id);
  const readyBefore = readiness === "unknown" && shown && previous.ready;
  return { started, ready: readiness === undefined || readiness === "success" || readyBefore };
}
