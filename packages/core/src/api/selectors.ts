import type { Node, NodeSelectorRequirement, NodeSelectorTerm, Pod } from "./gen/core-v1.ts";
import type { LabelSelector } from "./gen/meta-v1.ts";

/** Labels of an object. */
export type Labels = Readonly<Record<string, string>>;

/**
 * True when the labels meet a LabelSelector. An empty selector meets everything, a missing one nothing.
 * An unknown operator meets nothing.
 */
export function matchesLabelSelector(options: { selector: LabelSelector | undefined; labels: Labels }): boolean {
  const { selector, labels } = options;
  if (selector === undefined) return false;
  return (
    matchesLabels({ wanted: selector.matchLabels ?? {}, labels }) &&
    (selector.matchExpressions ?? []).every(
      // Gt and Lt exist for nodes only.
      (requirement) => !/^(Gt|Lt)$/.test(requirement.operator) && meetsRequirement(requirement, labels),
    )
  );
}

/** True when every wanted label is there with that value. */
export function matchesLabels(options: { wanted: Labels; labels: Labels }): boolean {
  return Object.entries(options.wanted).every(([key, value]) => valueOf(options.labels, key) === value);
}

/**
 * True when the node's labels (and for matchFields its name) meet one of the terms. A term without any requirement meets
 * nothing, nor does an empty list of terms.
 */
export function matchesNodeSelectorTerms(options: { terms: readonly NodeSelectorTerm[]; node: Node }): boolean {
  const labels = options.node.metadata?.labels ?? {};
  const fields = { "metadata.name": options.node.metadata?.name ?? "" };
  return options.terms.some(({ matchExpressions = [], matchFields = [] }) => {
    if (matchExpressions.length + matchFields.length === 0) return false;
    return (
      matchExpressions.every((requirement) => meetsRequirement(requirement, labels)) &&
      matchFields.every((requirement) => meetsRequirement(requirement, fields))
    );
  });
}

/** True when the node meets the pod's nodeSelector and its required node affinity. */
export function matchesNodeAffinity(options: { pod: Pod; node: Node }): boolean {
  const { pod, node } = options;
  if (!matchesLabels({ wanted: pod.spec?.nodeSelector ?? {}, labels: node.metadata?.labels ?? {} })) return false;
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || matchesNodeSelectorTerms({ terms: required.nodeSelectorTerms, node });
}

function meetsRequirement(requirement: NodeSelectorRequirement, labels: Labels): boolean {
  const value = valueOf(labels, requirement.key);
  const values = requirement.values ?? [];
  switch (requirement.operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return values.length > 0 && (value === undefined || !values.includes(value));
    case "Exists":
      return values.length === 0 && value !== undefined;
    case "DoesNotExist":
      return values.length === 0 && value === undefined;
    case "Gt":
    case "Lt": {
      const actual = parseInteger(value);
      const bound = values.length === 1 ? parseInteger(values[0]) : undefined;
      if (actual === undefined || bound === undefined) return false;
      return requirement.operator === "Gt" ? actual > bound : actual < bound;
    }
    default:
      return false;
  }
}

/** Reads an own property only: label keys come from outside and may be `constructor`. */
function valueOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function parseInteger(text: string | undefined): bigint | undefined {
  return text !== undefined && /^[+-]?\d{1,19}$/.test(text) ? BigInt(text.replace(/^\+/, "")) : undefined;
}
