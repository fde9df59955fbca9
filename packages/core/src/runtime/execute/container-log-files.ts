import type { PodRef } from "../../decisions/decision.ts";
import { isErrorOfKind } from "../../errors/nodelet-error.ts";
import { identityFault } from "../../pods/validation/index.ts";
import type { Logger } from "../../ports/logger.ts";
import type { ContainerLogs } from "../../ports/pod-files.ts";
import type { ObservedContainer, ObservedPod } from "../observed-pod.ts";
import { logLinkName } from "../requests/index.ts";

interface LogRequest {
  readonly ref: PodRef;
  readonly container: { readonly id: string; readonly name: string };
  readonly containerLogs: ContainerLogs;
  readonly signal: AbortSignal;
}

/** Removes the link to a container's log, which would dangle for ever once container and log are gone. Idempotent. */
export async function unlinkLog(request: LogRequest): Promise<void> {
  const { ref, container, containerLogs, signal } = request;
  // Somebody else's pod may have any name; nothing on disk is named by one that cannot be a name.
  if (identityFault(ref) !== undefined) return;
  const linkName = logLinkName({
    podName: ref.name,
    podNamespace: ref.namespace,
    containerName: container.name,
    containerId: container.id,
  });
  try {
    await containerLogs.unlink({ linkName, signal });
  } catch (error) {
    // Something that is no link has the name: somebody else's.
    if (!isErrorOfKind(error, "conflict")) throw error;
  }
}

/**
 * Removes link and log of a dead instance of a live pod, as the kubelet does before it removes the container. The log of the newest instance stays:
 * once every instance is gone, its number alone tells how often the container was started.
 */
export async function removeLogOfDead(
  request: Omit<LogRequest, "ref"> & { readonly observed: ObservedPod; readonly container: ObservedContainer },
): Promise<void> {
  const { observed, container, containerLogs, signal } = request;
  const ref = { uid: observed.uid, name: observed.name, namespace: observed.namespace };
  if (identityFault(ref) !== undefined) return;
  await unlinkLog({ ...request, ref });
  const isSuperseded = observed.containers.some(
    ({ name, attempt }) => name === container.name && attempt > container.attempt,
  );
  if (!isSuperseded) return;
  await containerLogs.removeAttemptLogs({
    podUid: ref.uid,
    podName: ref.name,
    podNamespace: ref.namespace,
    containerName: container.name,
    attempt: container.attempt,
    signal,
  });
}

/**
 * Makes the links of running containers whose ids are not among `linked`, and adds them: an agent that was killed between a start and its link left
 * a container without one, and so did a start that took effect after its agent was gone. A container whose log is elsewhere (another agent's) is
 * left as it is.
 */
export async function restoreLinks(request: {
  readonly observed: ObservedPod;
  readonly linked: Set<string>;
  readonly containerLogs: ContainerLogs;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { observed, linked, containerLogs, logger, signal } = request;
  const { name: podName, namespace: podNamespace } = observed;
  for (const { id: containerId, name: containerName, state, logPath } of observed.containers) {
    if (state !== "running" || logPath === "" || linked.has(containerId)) continue;
    const linkName = logLinkName({ podName, podNamespace, containerName, containerId });
    try {
      await containerLogs.link({ linkName, logPath, signal });
    } catch (error) {
      if (signal.aborted) return;
      logger.debug(2, "A running container has no link to its log", { link: linkName, reason: String(error) });
    }
    linked.add(containerId);
  }
}
