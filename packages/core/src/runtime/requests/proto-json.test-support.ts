import type { ContainerConfig, SandboxConfig } from "../../ports/runtime-types.ts";

type Json = null | string | number | boolean | Json[] | { [key: string]: Json };

/** Enum values that are 0 on the wire, by field: proto3 leaves them out. */
const ENUM_DEFAULTS: Readonly<Record<string, string>> = {
  network: "POD",
  pid: "POD",
  ipc: "POD",
  mode: "POD",
  profile_type: "RuntimeDefault",
  protocol: "TCP",
  supplemental_groups_policy: "Merge",
  propagation: "PROPAGATION_PRIVATE",
};
/** Map fields: their keys are data, and an empty map is not written. */
const MAPS: ReadonlySet<string> = new Set(["labels", "annotations", "sysctls", "unified"]);
/** Fields of the wrapper type Int64Value: set to 0 is not the same as absent. */
const WRAPPED: ReadonlySet<string> = new Set(["run_as_user", "run_as_group"]);

/** A request in the form of the recordings: the contract's field names, int64 as text, defaults left out, bytes in base64. */
export function toProtoJson(config: SandboxConfig | ContainerConfig): Json {
  return message(config);
}

function message(source: object): { [key: string]: Json } {
  const fields: [string, Json][] = [];
  for (const [name, value] of Object.entries(source)) {
    const field = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const written = fieldValue(field, value);
    if (written !== undefined) fields.push([field, written]);
  }
  const isEnv = "key" in source && "value" in source;
  return Object.fromEntries(
    fields.map(([field, value]) => [
      field,
      isEnv && field === "value" && typeof value === "string" ? base64(value) : value,
    ]),
  );
}

function fieldValue(field: string, value: unknown): Json | undefined {
  if (value === undefined || value === "" || value === 0 || value === false) return undefined;
  if (WRAPPED.has(field)) return value === 0n ? {} : { value: (value as bigint).toString() };
  if (value === 0n || value === ENUM_DEFAULTS[field]) return undefined;
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(element);
  if (MAPS.has(field))
    return Object.keys(value as object).length === 0 ? undefined : (value as { [key: string]: Json });
  if (typeof value === "object" && value !== null) return message(value);
  return value as Json;
}

function element(value: unknown): Json {
  if (typeof value === "bigint") return String(value);
  return typeof value === "object" && value !== null ? message(value) : (value as Json);
}

function base64(value: string): string {
  return Buffer.from(value, "utf8").toString("base64");
}

/** What Go keeps in maps, in one order: merged DNS options, and environment variables with their values in plain text. */
export function inOneOrder(config: unknown): unknown {
  const copy = structuredClone(config) as {
    dns_config?: { options?: string[] };
    envs?: { key: string; value?: string }[];
  };
  copy.dns_config?.options?.sort();
  if (copy.envs !== undefined) {
    const plain = copy.envs.map(({ key, value = "" }) => `${key}=${Buffer.from(value, "base64").toString("utf8")}`);
    const isService = (entry: string): boolean => /^(KUBERNETES|WEB_SVC)_/.test(entry);
    const firstService = plain.findIndex(isService);
    const own = firstService === -1 ? plain : plain.slice(0, firstService);
    const services = firstService === -1 ? [] : plain.slice(firstService);
    return { ...copy, envs: { own: own.sort(), services: services.sort() } };
  }
  return copy;
}
