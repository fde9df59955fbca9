import type { ContainerState, ContainerStateTerminated, ContainerStatus } from "../api/index.ts";
import { rfc3339 } from "../pods/timestamp.ts";
import type { ObservedContainer } from "../runtime/observed-pod.ts";

/** Exit code for containers of which nobody can tell any more how they ended: a failure, never a success. */
const UNKNOWN_EXIT_CODE = 137;
const STATUS_UNKNOWN = "ContainerStatusUnknown";

/** The id of a container as statuses show it. */
export function containerId(runtimeName: string, id: string): string {
  return `${runtimeName}://${id}`;
}

/**
 * The API state of one instance. An instance that the runtime lost track of counts as ended when the status showed it running, since it must not
 * look as if it had never run; else it waits.
 */
export function instanceState(
  instance: ObservedContainer,
  options: { readonly runtimeName: string; readonly previous: ContainerStatus | undefined },
): ContainerState {
  switch (instance.state) {
    case "running":
      return { running: { startedAt: rfc3339(instance.startedAtMs ?? 0) } };
    case "created":
      return { waiting: {} };
    case "exited":
      return { terminated: terminatedState(instance, options.runtimeName) };
    case "unknown":
      return options.previous?.state?.running === undefined ? { waiting: {} } : { terminated: lostWhenTerminated() };
  }
}

/** What is known of a container that ended without a trace while its pod ended. */
export function lostWhenTerminated(): ContainerStateTerminated {
  const message = "The container could not be located when the pod was terminated";
  return { exitCode: UNKNOWN_EXIT_CODE, reason: STATUS_UNKNOWN, message, ...noTimes() };
}

/** What is known of a container that a status showed running and the runtime has nothing of. */
export function lostWhileRunning(): ContainerStateTerminated {
  const message = "The container could not be located when the pod was deleted.  The container used to be Running";
  return { exitCode: UNKNOWN_EXIT_CODE, reason: STATUS_UNKNOWN, message, ...noTimes() };
}

/** An init container that is gone from the runtime after the pod was initialised. */
export function initCompletedAndRemoved(): ContainerStateTerminated {
  const message =
    "Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally";
  return { exitCode: 0, reason: "Completed", message, ...noTimes() };
}

function terminatedState(instance: ObservedContainer, runtimeName: string): ContainerStateTerminated {
  const message = [instance.message, instance.terminationMessage ?? ""].filter((text) => text !== "").join(": ");
  return {
    exitCode: instance.exitCode,
    ...(instance.reason !== "" && { reason: instance.reason }),
    ...(message !== "" && { message }),
    startedAt: rfc3339(instance.startedAtMs ?? 0),
    finishedAt: rfc3339(instance.finishedAtMs ?? 0),
    containerID: containerId(runtimeName, instance.id),
  };
}

/** Times that nobody knows are null in Kubernetes' JSON. */
function noTimes(): Pick<ContainerStateTerminated, "startedAt" | "finishedAt"> {
  return { startedAt: null, finishedAt: null };
}
