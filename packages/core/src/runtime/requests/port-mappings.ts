import type { Container, Pod } from "../../api/index.ts";
import type { CriProtocol, PortMapping } from "../../ports/runtime-types.ts";

/**
 * Ports of the regular containers, for the runtime's network set-up. A port that a container lists twice (the same name, or the same address,
 * protocol and numbers) counts once.
 */
export function portMappings(pod: Pod): PortMapping[] {
  return (pod.spec?.containers ?? []).flatMap(containerPorts);
}

function containerPorts(container: Container): PortMapping[] {
  const seen = new Set<string>();
  const mappings: PortMapping[] = [];
  for (const { name = "", protocol = "TCP", hostIP = "", containerPort, hostPort = 0 } of container.ports ?? []) {
    const key = name === "" ? `${protocol}-${hostIP}:${containerPort}:${hostPort}` : name;
    if (seen.has(key)) continue;
    seen.add(key);
    mappings.push({ protocol: criProtocol(protocol), containerPort, hostPort, hostIp: hostIP });
  }
  return mappings;
}

function criProtocol(protocol: string): CriProtocol {
  return protocol === "UDP" || protocol === "SCTP" ? protocol : "TCP";
}
