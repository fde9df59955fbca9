import type { ObjectMeta } from "../../api/index.ts";
import { byteLength, dnsLabel, dnsSubdomain, labelValue, qualifiedName } from "./formats.ts";
import type { Problems } from "./problems.ts";

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
