import type {
  EnvFromSource,
  EnvVar,
  EnvVarSource,
  ObjectFieldSelector,
  ResourceFieldSelector,
} from "../../api/index.ts";
import { Amount } from "../../api/index.ts";
import { NodeletError } from "../../errors/index.ts";
import { configKey, dnsSubdomain, environmentName, qualifiedName } from "./formats.ts";
import type { Problems } from "./problems.ts";

const FIELD_PATHS = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];
/** What a file of a downward API volume may hold. */
export const VOLUME_FIELD_PATHS: readonly string[] = [
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
];
const RESOURCES = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
];
const CPU_DIVISORS = ["1m", "1"];
const BYTE_DIVISORS = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

/** Where something stands and whom to tell. */
export interface Place {
  readonly path: string;
  readonly problems: Problems;
}

/** Environment variables with their sources. */
export function validateEnv(variables: readonly EnvVar[], { path, problems }: Place): void {
  for (const [index, variable] of variables.entries()) {
    const own = `${path}[${index}]`;
    if (!variable.name) problems.required({ path: `${own}.name` });
    else problems.invalidAll({ path: `${own}.name`, value: variable.name, details: environmentName(variable.name) });
    if (variable.valueFrom !== undefined) validateValueFrom(variable, { path: `${own}.valueFrom`, problems });
  }
}

function validateValueFrom(variable: EnvVar, { path, problems }: Place): void {
  const from: EnvVarSource = variable.valueFrom ?? {};
  const sources = Object.values(from).filter((source) => source !== undefined);
  if (from.fieldRef !== undefined) {
    validateFieldRef(from.fieldRef, { path: `${path}.fieldRef`, problems, allowed: FIELD_PATHS });
  }
  if (from.resourceFieldRef !== undefined) {
    validateResourceFieldRef(from.resourceFieldRef, {
      path: `${path}.resourceFieldRef`,
      problems,
      needsContainer: false,
    });
  }
  for (const name of ["configMapKeyRef", "secretKeyRef"] as const) {
    const reference = from[name];
    if (reference !== undefined) validateKeyRef(reference, { path: `${path}.${name}`, problems });
  }
  if (sources.length === 0) {
    const detail = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`";
    problems.invalid({ path, value: "", detail });
  } else if (variable.value) {
    problems.invalid({ path, value: "", detail: "may not be specified when `value` is not empty" });
  } else if (sources.length > 1) {
    problems.invalid({ path, value: "", detail: "may not have more than one field specified at a time" });
  }
}

function validateKeyRef(reference: { readonly name?: string; readonly key: string }, { path, problems }: Place): void {
  problems.invalidAll({
    path: `${path}.name`,
    value: reference.name ?? "",
    details: dnsSubdomain(reference.name ?? ""),
  });
  if (!reference.key) problems.required({ path: `${path}.key` });
  else problems.invalidAll({ path: `${path}.key`, value: reference.key, details: configKey(reference.key) });
}

/** A reference to a field of the pod, `metadata.labels['key']` included. */
export function validateFieldRef(
  field: ObjectFieldSelector,
  place: Place & { readonly allowed: readonly string[] },
): void {
  const { path, problems } = place;
  if (!field.fieldPath) {
    problems.required({ path: `${path}.fieldPath` });
    return;
  }
  const [, whole = "", subscript] = /^([^[]*)(?:\['(.*)'\])?$/.exec(field.fieldPath) ?? [];
  if (subscript !== undefined) {
    if (whole === "metadata.annotations" || whole === "metadata.labels") {
      const key = whole === "metadata.annotations" ? subscript.toLowerCase() : subscript;
      problems.invalidAll({ path, value: key, details: qualifiedName(key) });
    } else {
      problems.invalid({ path, value: whole, detail: "does not support subscript" });
    }
  } else if (!place.allowed.includes(field.fieldPath)) {
    problems.unsupported({ path: `${path}.fieldPath`, value: field.fieldPath, supported: place.allowed });
  }
}

/** A reference to a request or limit of a container. */
export function validateResourceFieldRef(
  field: ResourceFieldSelector,
  place: Place & { readonly needsContainer: boolean },
): void {
  const { path, problems } = place;
  if (place.needsContainer && !field.containerName) problems.required({ path: `${path}.containerName` });
  else if (!field.resource) problems.required({ path: `${path}.resource` });
  else if (!RESOURCES.includes(field.resource) && !/^(requests|limits)\.hugepages-/.test(field.resource)) {
    problems.unsupported({ path: `${path}.resource`, value: field.resource, supported: RESOURCES });
  }
  const divisor = canonical(field.divisor ?? "0");
  if (divisor === "0") return;
  const allowed = field.resource.endsWith(".cpu") ? CPU_DIVISORS : BYTE_DIVISORS;
  if (divisor === undefined || !allowed.includes(divisor)) {
    const detail = `only divisor's values ${allowed.join(", ")} are supported with the resource`;
    problems.invalid({ path: `${path}.divisor`, value: field.divisor, detail });
  }
}

function canonical(quantity: string): string | undefined {
  try {
    return Amount.parse(quantity).toString();
  } catch (error) {
    if (NodeletError.is(error)) return undefined;
    throw error;
  }
}

/** Config maps and secrets whose keys all become variables. */
export function validateEnvFrom(sources: readonly EnvFromSource[], { path, problems }: Place): void {
  for (const [index, source] of sources.entries()) {
    const own = `${path}[${index}]`;
    if (source.prefix)
      problems.invalidAll({ path: `${own}.prefix`, value: source.prefix, details: environmentName(source.prefix) });
    const references = (["configMapRef", "secretRef"] as const).filter((name) => source[name] !== undefined);
    for (const name of references) {
      const referenced = source[name]?.name;
      if (!referenced) problems.required({ path: `${own}.${name}.name` });
      else problems.invalidAll({ path: `${own}.${name}.name`, value: referenced, details: dnsSubdomain(referenced) });
    }
    if (references.length === 0)
      problems.invalid({ path, value: "", detail: "must specify one of: `configMapRef` or `secretRef`" });
    if (references.length > 1)
      problems.invalid({ path, value: "", detail: "may not have more than one field specified at a time" });
  }
}
