import type { Container, EphemeralContainer, Pod } from "../../api/index.ts";
import { NodeletError, throwIfAborted } from "../../errors/index.ts";
import type { KeyedObject, ObjectSource } from "../../ports/object-source.ts";

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

/** Looks every reference up, all at once. Rejects only when the signal fires: a source's failure becomes the look-up's. */
export async function prefetchObjects(options: {
  readonly source: ObjectSource;
  readonly references: readonly ObjectReference[];
  readonly signal?: AbortSignal;
}): Promise<PrefetchedObjects> {
  const { source, references, signal } = options;
  const call = signal === undefined ? {} : { signal };
  const lookUp = async ({ kind, namespace, name }: ObjectReference): Promise<ObjectLookup> => {
    try {
      const request = { namespace, name, ...call };
      const object = await (kind === "configMap" ? source.configMap(request) : source.secret(request));
      return object === undefined ? { kind: "absent" } : { kind: "found", object };
    } catch (error) {
      return { kind: "failed", error: NodeletError.from(error) };
    }
  };
  const lookups = await Promise.all(
    references.map(async (reference) => [objectKey(reference), await lookUp(reference)] as const),
  );
  throwIfAborted(signal, "looking up config maps and secrets");
  return new Map(lookups);
}
