import type { NodeSelectorRequirement, NodeSelectorTerm, Pod, Toleration } from "../../api/index.ts";
import { oneOf } from "./containers.ts";
import type { Place } from "./env.ts";
import { dnsSubdomain, labelValue, qualifiedName } from "./formats.ts";

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/** Required node affinity, the part that a node judges itself; preferences are the scheduler's. */
export function validateAffinity(pod: Pod, problems: Place["problems"]): void {
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined) return;
  const path = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
  const terms = required.nodeSelectorTerms ?? [];
  if (terms.length === 0) problems.required({ path, detail: "must have at least one node selector term" });
  for (const [index, term] of terms.entries()) validateTerm(term, { path: `${path}[${index}]`, problems });
}

function validateTerm(term: NodeSelectorTerm, { path, problems }: Place): void {
  for (const [index, requirement] of (term.matchExpressions ?? []).entries()) {
    validateExpression(requirement, { path: `${path}.matchExpressions[${index}]`, problems });
  }
  for (const [index, requirement] of (term.matchFields ?? []).entries()) {
    validateField(requirement, { path: `${path}.matchFields[${index}]`, problems });
  }
}

function validateExpression(requirement: NodeSelectorRequirement, { path, problems }: Place): void {
  const values = requirement.values ?? [];
  switch (requirement.operator) {
    case "In":
    case "NotIn":
      if (values.length === 0) {
        problems.required({ path: `${path}.values`, detail: "must be specified when `operator` is 'In' or 'NotIn'" });
      }
      break;
    case "Exists":
    case "DoesNotExist":
      if (values.length > 0) {
        problems.forbidden({
          path: `${path}.values`,
          detail: "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        });
      }
      break;
    case "Gt":
    case "Lt":
      if (values.length !== 1) {
        problems.required({
          path: `${path}.values`,
          detail: "must be specified single value when `operator` is 'Lt' or 'Gt'",
        });
      }
      break;
    default:
      problems.invalid({
        path: `${path}.operator`,
        value: requirement.operator,
        detail: "not a valid selector operator",
      });
  }
  problems.invalidAll({ path: `${path}.key`, value: requirement.key, details: qualifiedName(requirement.key) });
  for (const [index, value] of values.entries()) {
    problems.invalidAll({ path: `${path}.values[${index}]`, value, details: labelValue(value) });
  }
}

function validateField(requirement: NodeSelectorRequirement, { path, problems }: Place): void {
  const values = requirement.values ?? [];
  if (requirement.operator !== "In" && requirement.operator !== "NotIn") {
    problems.invalid({
      path: `${path}.operator`,
      value: requirement.operator,
      detail: "not a valid selector operator",
    });
  } else if (values.length !== 1) {
    const detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    problems.required({ path: `${path}.values`, detail });
  }
  if (requirement.key !== "metadata.name") {
    problems.invalid({ path: `${path}.key`, value: requirement.key, detail: "not a valid field selector key" });
    return;
  }
  for (const [index, value] of values.entries()) {
    problems.invalidAll({ path: `${path}.values[${index}]`, value, details: dnsSubdomain(value) });
  }
}

/** Tolerations of taints. */
export function validateTolerations(tolerations: readonly Toleration[], problems: Place["problems"]): void {
  for (const [index, toleration] of tolerations.entries()) {
    const path = `spec.tolerations[${index}]`;
    const { key = "", operator = "", value = "", effect = "" } = toleration;
    if (key !== "") problems.invalidAll({ path: `${path}.key`, value: key, details: qualifiedName(key) });
    else if (operator !== "Exists") {
      const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      problems.invalid({ path: `${path}.operator`, value: operator, detail });
    }
    if (toleration.tolerationSeconds !== undefined && effect !== "NoExecute") {
      const detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
      problems.invalid({ path: `${path}.effect`, value: effect, detail });
    }
    if (operator === "Exists") {
      if (value !== "")
        problems.invalid({
          path: `${path}.operator`,
          value,
          detail: "value must be empty when `operator` is 'Exists'",
        });
    } else if (operator === "" || operator === "Equal") {
      const details = labelValue(value);
      if (details.length > 0) problems.invalid({ path: `${path}.operator`, value, detail: details.join(";") });
    } else {
      problems.unsupported({ path: `${path}.operator`, value: operator, supported: ["Equal", "Exists"] });
    }
    if (effect !== "") oneOf(effect, { path: `${path}.effect`, problems, words: EFFECTS });
  }
}
