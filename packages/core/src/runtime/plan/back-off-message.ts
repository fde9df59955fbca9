import { formatPod, type Pod } from "../../api/index.ts";
import { goDuration } from "../../text/go-duration.ts";

/** The waiting message of a container in crash back-off, word for word as the kubelet's. `durationMs` is the length of the whole window. */
export function crashBackOffMessage(options: {
  readonly pod: Pod;
  readonly containerName: string;
  readonly durationMs: number;
}): string {
  const { pod, containerName, durationMs } = options;
  return `back-off ${goDuration(durationMs)} restarting failed container=${containerName} pod=${formatPod(pod)}`;
}
