import type { EnvFromSource, EnvVar, EnvVarSource } from "../../api/index.ts";
import { NodeletError } from "../../errors/index.ts";
import type { CriEnvVar } from "../../ports/runtime-types.ts";
import { expandReferences } from "./expansion.ts";
import { fieldValue } from "./field-ref.ts";
import { type ObjectReference, objectKey } from "./object-references.ts";
import { effectivePodIps } from "./pod-ips.ts";
import type { ContainerRequestContext } from "./request-context.ts";
import { resourceValue } from "./resource-ref.ts";
import { serviceEnv } from "./service-env.ts";

type EnvContext = Pick<ContainerRequestContext, "pod" | "container" | "node" | "podIps" | "objects" | "services">;

/**
 * A container's environment: `envFrom` first (later sources win), then `env` in order (each may refer to what came before it, and to service
 * variables), then the service variables that nothing of these replaced. A name that comes twice keeps its first place and its last
 * value. Throws `invalid` with the kubelet's text for what cannot be found. Values are never logged.
 */
export function containerEnv(context: EnvContext): CriEnvVar[] {
  const { pod, container } = context;
  const services = serviceEnv({
    services: context.services,
    namespace: pod.metadata?.namespace ?? "",
    enableServiceLinks: pod.spec?.enableServiceLinks ?? true,
  });
  const own = new Map<string, string>();
  for (const source of container.envFrom ?? []) addAll({ context, source, into: own });
  const lookUp = (name: string): string | undefined => own.get(name) ?? services.get(name);
  for (const variable of container.env ?? []) {
    const value = variableValue({ context, variable, lookUp });
    if (value !== undefined) own.set(variable.name, value);
  }
  const rest = [...services].filter(([name]) => !own.has(name));
  return [...own, ...rest].map(([key, value]) => ({ key, value }));
}

/** Command or args with `$(NAME)` replaced from the container's environment. */
export function expandArguments(args: readonly string[] | undefined, env: readonly CriEnvVar[]): string[] {
  const values = new Map(env.map(({ key, value }) => [key, value]));
  return (args ?? []).map((argument) => expandReferences(argument, (name) => values.get(name)));
}

function addAll(options: {
  readonly context: EnvContext;
  readonly source: EnvFromSource;
  readonly into: Map<string, string>;
}): void {
  const { context, source, into } = options;
  const references = [
    ["configMap", source.configMapRef],
    ["secret", source.secretRef],
  ] as const;
  for (const [kind, reference] of references) {
    if (reference === undefined) continue;
    const data = objectData({ context, kind, name: reference.name ?? "", optional: reference.optional === true });
    for (const [key, value] of Object.entries(data ?? {})) into.set((source.prefix ?? "") + key, value);
  }
}

/** undefined when an optional source has no such key: the variable is left out. */
function variableValue(options: {
  readonly context: EnvContext;
  readonly variable: EnvVar;
  readonly lookUp: (name: string) => string | undefined;
}): string | undefined {
  const { context, variable } = options;
  const { value = "", valueFrom } = variable;
  if (value !== "") return expandReferences(value, options.lookUp);
  if (valueFrom === undefined) return "";
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = valueFrom;
  const { pod, container, node } = context;
  if (fieldRef !== undefined) {
    const { nodeIps } = node.machine;
    const fields = { podIps: effectivePodIps({ pod, podIps: context.podIps, nodeIps }), hostIps: nodeIps };
    return fieldValue({ pod, selector: fieldRef, fields });
  }
  if (resourceFieldRef !== undefined) {
    return resourceValue({ pod, container, selector: resourceFieldRef, allocatable: node.allocatable });
  }
  if (configMapKeyRef !== undefined) return keyValue({ context, kind: "configMap", selector: configMapKeyRef });
  if (secretKeyRef !== undefined) return keyValue({ context, kind: "secret", selector: secretKeyRef });
  if (valueFrom.fileKeyRef !== undefined) {
    const what = `environment variable ${variable.name}: fileKeyRef`;
    throw new NodeletError("unsupported", `${what} is not supported by this agent; use a config map or a secret`);
  }
  return "";
}

function keyValue(options: {
  readonly context: EnvContext;
  readonly kind: ObjectReference["kind"];
  readonly selector: NonNullable<EnvVarSource["configMapKeyRef"] | EnvVarSource["secretKeyRef"]>;
}): string | undefined {
  const { context, kind, selector } = options;
  const { name = "", key } = selector;
  const optional = selector.optional === true;
  const data = objectData({ context, kind, name, optional });
  if (data !== undefined && Object.hasOwn(data, key)) return data[key];
  if (optional) return undefined;
  const type = kind === "configMap" ? "ConfigMap" : "Secret";
  const namespace = context.pod.metadata?.namespace ?? "";
  throw new NodeletError("notFound", `couldn't find key ${key} in ${type} ${namespace}/${name}`);
}

/** undefined when the object is absent and may be. */
function objectData(options: {
  readonly context: EnvContext;
  readonly kind: ObjectReference["kind"];
  readonly name: string;
  readonly optional: boolean;
}): Readonly<Record<string, string>> | undefined {
  const { context, kind, name } = options;
  const lookup = context.objects.get(objectKey({ kind, namespace: context.pod.metadata?.namespace ?? "", name }));
  if (lookup?.kind === "found") return lookup.object.data;
  if (lookup?.kind === "failed") throw lookup.error;
  if (options.optional) return undefined;
  throw new NodeletError("notFound", `${kind === "configMap" ? "configmap" : "secret"} "${name}" not found`);
}
