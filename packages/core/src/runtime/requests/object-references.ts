import type { Container, EphemeralContainer, Pod } from "../../api/index.ts";
import { NodeletError, throwIfAborted } from "../../errors/index.ts";
import type { KeyedObject, ObjectSource, ServiceSummary } from "../../ports/object-source.ts";
import type { CallOptions } from "../../ports/runtime-service.ts";

/** A config map or secret that a container's environment is made from. */
export interface ObjectReference {
  readonly kind: "configMap" | "secret";
  readonly namespace: string;
  readonly name: string;
}

/** What a look-up gave; a failure is told when (and only when) the value is needed. */
export type ObjectLookup =
  | { readonly kind: "found"; readonly object: KeyedObject }
  | { readonly kind: "absent" }
  | { readonly kind: "failed"; readonly error: NodeletError };

/** Look-ups by `objectKey`. Building a request fetches nothing. */
export type PrefetchedObjects = ReadonlyMap<string, ObjectLookup>;

/** Key of a reference in `PrefetchedObjects`. */
export function objectKey(reference: ObjectReference): string {
  return `${reference.kind}/${reference.namespace}/${reference.name}`;
}

/** Everything that a container's `env` and `envFrom` refer to, each once. */
export function objectReferences(pod: Pod, container: Container | EphemeralContainer): readonly ObjectReference[] {
  const namespace = pod.metadata?.namespace ?? "";
  const found = new Map<string, ObjectReference>();
  const add = (kind: ObjectReference["kind"], name: string | undefined): void => {
    if (name === undefined) return;
    const reference = { kind, namespace, name };
    found.set(objectKey(reference), reference);
  };
  for (const source of container.envFrom ?? []) {
    if (source.configMapRef !== undefined) add("configMap", source.configMapRef.name ?? "");
    if (source.secretRef !== undefined) add("secret", source.secretRef.name ?? "");
  }
  for (const { valueFrom } of container.env ?? []) {
    if (valueFrom?.configMapKeyRef !== undefined) add("configMap", valueFrom.configMapKeyRef.name ?? "");
    if (valueFrom?.secretKeyRef !== undefined) add("secret", valueFrom.secretKeyRef.name ?? "");
  }
  return [...found.values()];
}

/**
 * Looks up everything that a container's environment needs, all at once. A config map or secret that cannot be read is told when its value is
 * needed; services that cannot be read are a config error, since any container may use them. Rejects with `cancelled` when the
 * signal fires.
 */
export async function prefetchObjects(options: {
  readonly pod: Pod;
  readonly container: Container | EphemeralContainer;
  readonly source: ObjectSource;
  readonly signal?: AbortSignal;
}): Promise<{ readonly objects: PrefetchedObjects; readonly services: readonly ServiceSummary[] }> {
  const { pod, container, source, signal } = options;
  const call = signal === undefined ? {} : { signal };
  const references = objectReferences(pod, container);
  const lookups = Promise.all(
    references.map(async (reference) => [objectKey(reference), await lookUp({ source, reference, call })] as const),
  );
  const [objects, services] = await Promise.all([lookups, readServices(source, call)]);
  throwIfAborted(signal, "looking up config maps and secrets");
  return { objects: new Map(objects), services };
}

async function lookUp(options: {
  readonly source: ObjectSource;
  readonly reference: ObjectReference;
  readonly call: CallOptions;
}): Promise<ObjectLookup> {
  const { source, reference, call } = options;
  const request = { namespace: reference.namespace, name: reference.name, ...call };
  try {
    const object = await (reference.kind === "configMap" ? source.configMap(request) : source.secret(request));
    return object === undefined ? { kind: "absent" } : { kind: "found", object };
  } catch (error) {
    return { kind: "failed", error: NodeletError.from(error) };
  }
}

async function readServices(source: ObjectSource, call: CallOptions): Promise<readonly ServiceSummary[]> {
  try {
    return await source.services(call);
  } catch (error) {
    const fault = NodeletError.from(error);
    if (fault.kind === "cancelled") throw fault;
    const message = `services cannot be read, cannot construct envvars: ${fault.message}`;
    throw new NodeletError(fault.kind, message, { reason: "CreateContainerConfigError", cause: fault });
  }
}
