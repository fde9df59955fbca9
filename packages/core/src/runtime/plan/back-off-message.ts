import { formatPod, type Pod } from "../../api/index.ts";

/** The waiting message of a container in crash back-off, word for word as the kubelet's. `durationMs` is the length of the whole window. */
export function crashBackOffMessage(options: {
  readonly pod: Pod;
  readonly containerName: string;
  readonly durationMs: number;
}): string {
  const { pod, containerName, durationMs } = options;
  return `back-off ${goDuration(durationMs)} restarting failed container=${containerName} pod=${formatPod(pod)}`;
}

/** A duration as Go prints it: `10s`, `1m20s`, `5m0s`, `1h0m0s`, `1.5s`, `250ms`. */
function goDuration(durationMs: number): string {
  const ms = Math.round(durationMs);
  if (ms <= 0) return "0s";
  if (ms < 1000) return `${ms}ms`;
  const totalSeconds = Math.floor(ms / 1000);
  const fraction = String(ms % 1000)
    .padStart(3, "0")
    .replace(/0+$/, "");
  const seconds = `${totalSeconds % 60}${fraction === "" ? "" : `.${fraction}`}s`;
  const minutes = Math.floor(totalSeconds / 60);
  if (minutes === 0) return seconds;
  const hours = Math.floor(minutes / 60);
  return hours === 0 ? `${minutes}m${seconds}` : `${hours}h${minutes % 60}m${seconds}`;
}
