import type { ObjectMeta } from "../../api/index.ts";
import { byteLength, dnsLabel, dnsSubdomain, labelValue, podUid, qualifiedName } from "./formats.ts";
import { type FieldProblem, Problems } from "./problems.ts";

/** All annotations of one object together. */
const MAX_ANNOTATIONS_BYTES = 256 * 1024;

/** Names, labels, annotations, owners. */
export function validateMetadata(meta: ObjectMeta, problems: Problems): void {
  if (meta.generateName) {
    // A generated name gets random characters at its end: a hyphen there is fine.
    const value = meta.generateName;
    problems.invalidAll({ path: "metadata.generateName", value, details: dnsSubdomain(value.replace(/-$/, "a")) });
  }
  if (!meta.name) problems.required({ path: "metadata.name", detail: "name or generateName is required" });
  else problems.invalidAll({ path: "metadata.name", value: meta.name, details: dnsSubdomain(meta.name) });
  if (!meta.namespace) problems.required({ path: "metadata.namespace" });
  else problems.invalidAll({ path: "metadata.namespace", value: meta.namespace, details: dnsLabel(meta.namespace) });
  validateLabels({ path: "metadata.labels", labels: meta.labels ?? {} }, problems);
  validateAnnotations(meta.annotations ?? {}, problems);
  for (const [index, finalizer] of (meta.finalizers ?? []).entries()) {
    problems.invalidAll({ path: `metadata.finalizers[${index}]`, value: finalizer, details: qualifiedName(finalizer) });
  }
}

/** Label keys and values; also node selectors. */
export function validateLabels(
  input: { readonly path: string; readonly labels: Readonly<Record<string, string>> },
  problems: Problems,
): void {
  for (const [key, value] of Object.entries(input.labels)) {
    problems.invalidAll({ path: input.path, value: key, details: qualifiedName(key) });
    problems.invalidAll({ path: `${input.path}.${key}`, value, details: labelValue(value) });
  }
}

function validateAnnotations(annotations: Readonly<Record<string, string>>, problems: Problems): void {
  let size = 0;
  for (const [key, value] of Object.entries(annotations)) {
    problems.invalidAll({ path: "metadata.annotations", value: key, details: qualifiedName(key.toLowerCase()) });
    size += byteLength(key) + byteLength(value);
  }
  if (size > MAX_ANNOTATIONS_BYTES) problems.tooLong({ path: "metadata.annotations", maxBytes: MAX_ANNOTATIONS_BYTES });
}

/** A UID that the manifest itself gives. The API server makes its own and never judges one. */
export function validateGivenUid(uid: string): readonly FieldProblem[] {
  const problems = new Problems();
  problems.invalidAll({ path: "metadata.uid", value: uid, details: podUid(uid) });
  return problems.list;
}

/**
 * What is wrong with the three by which a node knows a pod, the first fault only: what is made of a pod is named by them, whatever source gave it.
 */
export function identityFault(meta: Pick<ObjectMeta, "uid" | "name" | "namespace">): string | undefined {
  const checks = [
    ["name", dnsSubdomain],
    ["namespace", dnsLabel],
    ["uid", podUid],
  ] as const;
  for (const [field, check] of checks) {
    const value = meta[field] ?? "";
    if (value === "") return `missing metadata.${field}`;
    const [fault] = check(value);
    if (fault !== undefined) return `invalid metadata.${field} ${JSON.stringify(value.slice(0, 300))}: ${fault}`;
  }
  return undefined;
}
