import type { ContainerState, ContainerStatus, Pod, PodStatus } from "../api/index.ts";

/** Bytes of termination messages that all containers of a pod share. */
const POD_MESSAGE_BYTES = 12 * 1024;

/**
 * The status with every termination message cut to the container's even share of 12 KiB, at a boundary of characters. Unchanged (the same object)
 * when nothing is too long.
 */
export function limitTerminationMessages(pod: Pod, status: PodStatus): PodStatus {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = pod.spec ?? {};
  const count = Math.max(1, containers.length + initContainers.length + ephemeralContainers.length);
  const maxBytes = Math.floor(POD_MESSAGE_BYTES / count);
  const cut = (statuses: ContainerStatus[] | undefined): ContainerStatus[] | undefined => {
    const result = statuses?.map((entry) => cutStatus(entry, maxBytes));
    return result?.some((entry, at) => entry !== statuses?.[at]) ? result : statuses;
  };
  const lists = {
    containerStatuses: cut(status.containerStatuses),
    initContainerStatuses: cut(status.initContainerStatuses),
    ephemeralContainerStatuses: cut(status.ephemeralContainerStatuses),
  };
  const same =
    lists.containerStatuses === status.containerStatuses &&
    lists.initContainerStatuses === status.initContainerStatuses &&
    lists.ephemeralContainerStatuses === status.ephemeralContainerStatuses;
  if (same) return status;
  return {
    ...status,
    ...(lists.containerStatuses && { containerStatuses: lists.containerStatuses }),
    ...(lists.initContainerStatuses && { initContainerStatuses: lists.initContainerStatuses }),
    ...(lists.ephemeralContainerStatuses && { ephemeralContainerStatuses: lists.ephemeralContainerStatuses }),
  };
}

function cutStatus(status: ContainerStatus, maxBytes: number): ContainerStatus {
  const state = cutState(status.state, maxBytes);
  const lastState = cutState(status.lastState, maxBytes);
  if (state === status.state && lastState === status.lastState) return status;
  return { ...status, ...(state && { state }), ...(lastState && { lastState }) };
}

function cutState(state: ContainerState | undefined, maxBytes: number): ContainerState | undefined {
  const message = state?.terminated?.message;
  if (state?.terminated === undefined || message === undefined) return state;
  const shorter = cutText(message, maxBytes);
  return shorter === message ? state : { ...state, terminated: { ...state.terminated, message: shorter } };
}

/** The longest beginning of whole characters that fits into `maxBytes` of UTF-8. */
function cutText(text: string, maxBytes: number): string {
  // A UTF-16 unit makes at most three bytes: short texts need no count.
  if (text.length * 3 <= maxBytes) return text;
  const encoder = new TextEncoder();
  if (encoder.encode(text).length <= maxBytes) return text;
  let bytes = 0;
  let end = 0;
  for (const char of text) {
    bytes += encoder.encode(char).length;
    if (bytes > maxBytes) break;
    end += char.length;
  }
  return text.slice(0, end);
}
