import type { ServiceSummary } from "../../ports/object-source.ts";

/**
 * Environment variables of the services that a pod sees: those of its namespace when it wants links, and always the cluster's own
 * (`kubernetes` in `default`). Headless services have none. Keeps the order of the services.
 */
export function serviceEnv(options: {
  readonly services: readonly ServiceSummary[];
  readonly namespace: string;
  readonly enableServiceLinks: boolean;
}): Map<string, string> {
  const chosen = new Map<string, ServiceSummary>();
  for (const service of options.services) {
    if (service.clusterIp === "" || service.clusterIp === "None" || service.ports.length === 0) continue;
    const isMaster = service.namespace === "default" && service.name === "kubernetes";
    const isLinked = options.enableServiceLinks && service.namespace === options.namespace;
    // The pod's own namespace wins over the cluster's service of the same name.
    if (isMaster ? !chosen.has(service.name) : isLinked) chosen.set(service.name, service);
  }
  return new Map([...chosen.values()].flatMap(variables));
}

function variables(service: ServiceSummary): [string, string][] {
  const prefix = variableName(service.name);
  const [first] = service.ports;
  if (first === undefined) return [];
  const named = service.ports.filter(({ name }) => name !== undefined && name !== "");
  return [
    [`${prefix}_SERVICE_HOST`, service.clusterIp],
    [`${prefix}_SERVICE_PORT`, String(first.port)],
    ...named.map(({ name = "", port }): [string, string] => [
      `${prefix}_SERVICE_PORT_${variableName(name)}`,
      String(port),
    ]),
    [`${prefix}_PORT`, url(service, first)],
    ...service.ports.flatMap((port) => linkVariables({ service, port, prefix })),
  ];
}

function linkVariables(options: {
  readonly service: ServiceSummary;
  readonly port: ServiceSummary["ports"][number];
  readonly prefix: string;
}): [string, string][] {
  const { service, port } = options;
  const protocol = protocolOf(port);
  const prefix = `${options.prefix}_PORT_${port.port}_${protocol.toUpperCase()}`;
  return [
    [prefix, url(service, port)],
    [`${prefix}_PROTO`, protocol],
    [`${prefix}_PORT`, String(port.port)],
    [`${prefix}_ADDR`, service.clusterIp],
  ];
}

function url(service: ServiceSummary, port: ServiceSummary["ports"][number]): string {
  const host = service.clusterIp.includes(":") ? `[${service.clusterIp}]` : service.clusterIp;
  return `${protocolOf(port)}://${host}:${port.port}`;
}

function protocolOf(port: ServiceSummary["ports"][number]): string {
  return port.protocol === "" ? "tcp" : port.protocol.toLowerCase();
}

function variableName(name: string): string {
  return name.replaceAll("-", "_").toUpperCase();
}
