import type { Container, Pod, PodSpec } from "../../api/index.ts";
import { defaultPod } from "../defaults.ts";
import { formatProblem, validatePod } from "./index.ts";

export const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
export const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
export const QUALIFIED =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

export function pod(spec: Partial<PodSpec>, metadata: Pod["metadata"] = {}): Pod {
  const containers: Container[] = [{ name: "app", image: "web:1" }];
  return defaultPod({ metadata: { name: "web", namespace: "default", ...metadata }, spec: { containers, ...spec } });
}

export function problems(spec: Partial<PodSpec>, metadata?: Pod["metadata"]): string[] {
  return validatePod(pod(spec, metadata)).map(formatProblem);
}

export function inContainer(fields: Partial<Container>, spec: Partial<PodSpec> = {}): string[] {
  return problems({ ...spec, containers: [{ name: "app", image: "web:1", ...fields }] });
}

/** Name of a case, what is found, what the API server would say. */
export type Row = [name: string, found: () => string[], expected: string[]];
