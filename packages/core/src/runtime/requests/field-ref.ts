import type { ObjectFieldSelector, Pod } from "../../api/index.ts";
import { NodeletError } from "../../errors/index.ts";
import { goQuote } from "../../text/go-quote.ts";

/** What a pod's fields cannot say yet while its container is made. */
export interface RuntimeFields {
  /** In the order of the node's families. */
  readonly podIps: readonly string[];
  /** Node addresses, primary family first. */
  readonly hostIps: readonly string[];
}

const SUBSCRIPTED = /^(.*)\['(.*)'\]$/s;
const QUALIFIED_NAME = /^(?:[^/]*\/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

/**
 * Value of a downward API field for an environment variable. Throws `invalid` with the kubelet's text for fields, versions and subscripts
 * that it does not know.
 */
export function fieldValue(options: {
  readonly pod: Pod;
  readonly selector: ObjectFieldSelector;
  readonly fields: RuntimeFields;
}): string {
  const { pod, selector, fields } = options;
  const version = selector.apiVersion ?? "v1";
  if (version !== "v1" && version !== "") throw new NodeletError("invalid", `unsupported pod version: ${version}`);
  const subscripted = SUBSCRIPTED.exec(selector.fieldPath);
  if (subscripted !== null) {
    return subscriptedValue({
      pod,
      fieldPath: selector.fieldPath,
      path: subscripted[1] ?? "",
      key: subscripted[2] ?? "",
    });
  }
  const read = READERS.get(selector.fieldPath);
  if (read === undefined) throw new NodeletError("invalid", `field label not supported: ${selector.fieldPath}`);
  return read(pod, fields);
}

/** Labels or annotations as the downward API writes them: `key="value"` lines sorted by key. */
function formatMap(map: Readonly<Record<string, string>> | undefined): string {
  const entries = Object.entries(map ?? {}).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return entries.map(([key, value]) => `${key}=${goQuote(value)}`).join("\n");
}

const READERS: ReadonlyMap<string, (pod: Pod, fields: RuntimeFields) => string> = new Map([
  ["metadata.annotations", (pod) => formatMap(pod.metadata?.annotations)],
  ["metadata.labels", (pod) => formatMap(pod.metadata?.labels)],
  ["metadata.name", (pod) => pod.metadata?.name ?? ""],
  ["metadata.namespace", (pod) => pod.metadata?.namespace ?? ""],
  ["metadata.uid", (pod) => pod.metadata?.uid ?? ""],
  ["spec.nodeName", (pod) => pod.spec?.nodeName ?? ""],
  // The name of spec.nodeName in the days of v1beta3; still accepted.
  ["spec.host", (pod) => pod.spec?.nodeName ?? ""],
  ["spec.serviceAccountName", (pod) => pod.spec?.serviceAccountName ?? ""],
  ["status.hostIP", (_, fields) => fields.hostIps[0] ?? ""],
  ["status.hostIPs", (_, fields) => fields.hostIps.join(",")],
  ["status.podIP", (_, fields) => fields.podIps[0] ?? ""],
  ["status.podIPs", (_, fields) => fields.podIps.join(",")],
] satisfies [string, (pod: Pod, fields: RuntimeFields) => string][]);

function subscriptedValue(options: {
  readonly pod: Pod;
  readonly fieldPath: string;
  readonly path: string;
  readonly key: string;
}): string {
  const { pod, fieldPath, path, key } = options;
  if (path !== "metadata.annotations" && path !== "metadata.labels") {
    throw new NodeletError("invalid", `field label does not support subscript: ${fieldPath}`);
  }
  if (path === "metadata.annotations" && !QUALIFIED_NAME.test(key.toLowerCase())) {
    throw new NodeletError(
      "invalid",
      `invalid key subscript in ${fieldPath}: expected a qualified name, [prefix/]name`,
    );
  }
  const map = (path === "metadata.labels" ? pod.metadata?.labels : pod.metadata?.annotations) ?? {};
  return Object.hasOwn(map, key) ? (map[key] ?? "") : "";
}
