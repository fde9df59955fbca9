import { isSidecar, type Pod } from "../api/index.ts";

/** A port of the host that a pod takes for itself. */
export interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

/** Host ports of the containers that run side by side: regular ones and sidecars. */
export function hostPortsOf(pod: Pod): HostPort[] {
  const sidecars = (pod.spec?.initContainers ?? []).filter(isSidecar);
  return [...(pod.spec?.containers ?? []), ...sidecars].flatMap((container) =>
    (container.ports ?? [])
      .filter((port) => (port.hostPort ?? 0) > 0)
      .map((port) => ({ ip: port.hostIP || "0.0.0.0", protocol: port.protocol || "TCP", port: port.hostPort ?? 0 })),
  );
}

/** True when the two cannot be bound at once: same protocol and port, and the same address or one that means all of them. */
export function portsConflict(left: HostPort, right: HostPort): boolean {
  const anywhere = left.ip === "0.0.0.0" || right.ip === "0.0.0.0" || left.ip === right.ip;
  return anywhere && left.protocol === right.protocol && left.port === right.port;
}
