import type { ContainerState, ContainerStatus, ContainerUser, Int64 } from "../api/index.ts";
import type { CriContainerUser } from "../ports/runtime-types.ts";
import { instancesOf, type ObservedContainer } from "../runtime/observed-pod.ts";
import type { RosterEntry } from "../runtime/plan/container-roster.ts";
import { shouldBeRestarted } from "../runtime/plan/restart-decision.ts";
import { containerReadiness } from "./container-readiness.ts";
import { containerResources } from "./container-resources.ts";
import { containerId, initCompletedAndRemoved, instanceState, lostWhileRunning } from "./container-state.ts";
import type { StatusSnapshot } from "./status-snapshot.ts";
import { volumeMountStatuses } from "./volume-mount-status.ts";

/** What the statuses of all containers of one pod share. */
export interface ContainerStatusContext {
  readonly snapshot: StatusSnapshot;
  /** Some regular container exists in the runtime: the plain init containers are done. */
  readonly podInitialised: boolean;
  readonly previous: ReadonlyMap<string, ContainerStatus>;
}

/**
 * Status of one container: its newest instance is the state, the one before it the last state. Without an instance it is what the last status
 * said, as far as that can still be true. A container that shall start and could not shows why.
 */
export function containerStatus(entry: RosterEntry, context: ContainerStatusContext): ContainerStatus {
  const { snapshot } = context;
  const [newest, second] = instancesOf(snapshot.observed, entry.name);
  const previous = context.previous.get(entry.name);
  const base = newest === undefined ? withoutInstance(entry, context) : fromInstance(entry, newest, context);
  const lastState =
    second === undefined || newest === undefined
      ? base.lastState
      : instanceState(second, { runtimeName: snapshot.runtimeName, previous });
  const failed = withStartError({ ...base, ...(lastState && { lastState }) }, { entry, newest, context });
  const readiness = containerReadiness({ entry, instance: newest, status: failed, previous, probes: snapshot.probes });
  return { ...failed, ...readiness };
}

function fromInstance(
  entry: RosterEntry,
  instance: ObservedContainer,
  context: ContainerStatusContext,
): ContainerStatus {
  const { snapshot } = context;
  const previous = context.previous.get(entry.name);
  const state = instanceState(instance, { runtimeName: snapshot.runtimeName, previous });
  const lost = instance.state === "unknown" && state.terminated !== undefined;
  const count = lost ? (previous?.restartCount ?? 0) + 1 : instance.restartCount;
  const mounts = volumeMountStatuses(entry.container, rroOf(snapshot));
  const user = containerUser(instance.user);
  return {
    name: entry.name,
    state,
    lastState: {},
    ready: false,
    restartCount: Math.max(count, previous?.restartCount ?? 0),
    image: instance.image,
    imageID: instance.imageRef,
    containerID: containerId(snapshot.runtimeName, instance.id),
    ...containerResources({ container: entry.container, instance, previous }),
    ...(mounts && { volumeMounts: mounts }),
    ...(user && { user }),
  };
}

function withoutInstance(entry: RosterEntry, context: ContainerStatusContext): ContainerStatus {
  const { snapshot, podInitialised } = context;
  const previous = context.previous.get(entry.name);
  if (previous?.state?.terminated !== undefined) return { ...previous, lastState: previous.lastState ?? {} };
  const mounts = volumeMountStatuses(entry.container, rroOf(snapshot));
  const status: ContainerStatus = {
    name: entry.name,
    state: { waiting: { reason: hasInitContainers(snapshot) ? "PodInitializing" : "ContainerCreating" } },
    lastState: previous?.lastState ?? {},
    ready: false,
    restartCount: previous?.restartCount ?? 0,
    image: entry.container.image ?? "",
    imageID: "",
    ...(mounts && { volumeMounts: mounts }),
  };
  if (entry.kind === "init" && podInitialised) return { ...status, state: { terminated: initCompletedAndRemoved() } };
  if (previous?.state?.running === undefined || status.lastState?.terminated !== undefined) return status;
  // It ran and is gone: shown as ended, not as if it had never started. While the pod lives on, that was a restart.
  const restarts = snapshot.pod.metadata?.deletionTimestamp === undefined ? 1 : 0;
  return {
    ...status,
    lastState: { terminated: lostWhileRunning() },
    restartCount: status.restartCount + restarts,
  };
}

function withStartError(
  status: ContainerStatus,
  options: {
    readonly entry: RosterEntry;
    readonly newest: ObservedContainer | undefined;
    readonly context: ContainerStatusContext;
  },
): ContainerStatus {
  const { entry, newest, context } = options;
  const error = context.snapshot.startErrors.get(entry.name);
  if (error === undefined) return status;
  const isInit = entry.kind === "init" || entry.kind === "sidecar";
  if (isInit && newest?.state === "exited" && newest.exitCode === 0) return status;
  const { pod } = context.snapshot;
  const shownExitCode = newest === undefined ? status.state?.terminated?.exitCode : undefined;
  if (!shouldBeRestarted({ pod, container: entry.container, instance: newest, shownExitCode })) return status;
  const waiting: ContainerState = {
    waiting: { reason: error.reason, ...(error.message !== "" && { message: error.message }) },
  };
  return { ...status, state: waiting, ...(status.state?.terminated && { lastState: status.state }) };
}

function hasInitContainers(snapshot: StatusSnapshot): boolean {
  return (snapshot.pod.spec?.initContainers ?? []).length > 0;
}

function rroOf(snapshot: StatusSnapshot): { readonly recursiveReadOnlyMounts: boolean } {
  return { recursiveReadOnlyMounts: snapshot.recursiveReadOnlyMounts === true };
}

function containerUser(user: CriContainerUser | undefined): ContainerUser | undefined {
  if (user === undefined) return undefined;
  const { uid, gid, supplementalGroups } = user;
  const groups = supplementalGroups.map(toInt64);
  return {
    linux: { uid: toInt64(uid), gid: toInt64(gid), ...(groups.length > 0 && { supplementalGroups: groups }) },
  };
}

function toInt64(value: bigint): Int64 {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
