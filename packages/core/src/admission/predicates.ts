import { matchesNodeAffinity, type Node, type Pod, type Toleration } from "../api/index.ts";
import { isStaticPod } from "../pods/annotations.ts";
import { type AdmissionHandler, type AdmissionInput, type AdmissionRejection, reject } from "./admission.ts";
import { hostPortsOf, portsConflict } from "./ports.ts";
import { findShortages } from "./resources.ts";

/** The label by which a pod asks for an operating system. */
const OS_LABEL = "kubernetes.io/os";

/**
 * What the scheduler would have checked, for pods that came past it, in upstream's order: operating system, groups policy, resources, node
 * affinity, node name, host ports, NoExecute taints. Only the first failure is told.
 */
export const predicateHandler: AdmissionHandler = {
  name: "predicates",
  judge: (input) => judgeOs(input) ?? judgeGroupsPolicy(input) ?? judgeResources(input) ?? judgePlacement(input),
};

function judgeOs({ pod, node }: AdmissionInput): AdmissionRejection | undefined {
  const labels = pod.metadata?.labels ?? {};
  if (Object.hasOwn(labels, OS_LABEL) && labels[OS_LABEL] !== node.os) {
    return reject(
      "PodOSSelectorNodeLabelDoesNotMatch",
      "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    );
  }
  const os = pod.spec?.os?.name;
  return os === undefined || os === node.os
    ? undefined
    : reject("PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS");
}

function judgeGroupsPolicy({ pod, node }: AdmissionInput): AdmissionRejection | undefined {
  const strict = pod.spec?.securityContext?.supplementalGroupsPolicy === "Strict";
  return strict && !node.supplementalGroupsPolicy
    ? reject("SupplementalGroupsPolicyNotSupported", "SupplementalGroupsPolicy=Strict is not supported in this node")
    : undefined;
}

function judgeResources(input: AdmissionInput): AdmissionRejection | undefined {
  const [first] = findShortages(input);
  if (first === undefined) return undefined;
  const { resource, requested, used, capacity } = first;
  return reject(
    `OutOf${resource}`,
    `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
  );
}

function judgePlacement(input: AdmissionInput): AdmissionRejection | undefined {
  const { pod, node } = input;
  const asObject: Node = { metadata: { name: node.name, labels: { ...node.labels } } };
  if (!matchesNodeAffinity({ pod, node: asObject })) {
    return predicateFailed("NodeAffinity", "node(s) didn't match Pod's node affinity/selector");
  }
  const wanted = pod.spec?.nodeName ?? "";
  if (wanted !== "" && wanted !== node.name) {
    return predicateFailed("NodeName", "node(s) didn't match the requested node name");
  }
  const taken = input.otherPods.flatMap(hostPortsOf);
  if (hostPortsOf(pod).some((port) => taken.some((other) => portsConflict(port, other)))) {
    return predicateFailed("NodePorts", "node(s) didn't have free ports for the requested pod ports");
  }
  if (!isStaticPod(pod) && node.taints.some((taint) => taint.effect === "NoExecute" && !tolerates(pod, taint))) {
    return predicateFailed("TaintToleration", "node(s) had taints that the pod didn't tolerate");
  }
  return undefined;
}

function predicateFailed(name: string, description: string): AdmissionRejection {
  return reject(name, `Predicate ${name} failed: ${description}`);
}

function tolerates(
  pod: Pod,
  taint: { readonly key: string; readonly value?: string; readonly effect: string },
): boolean {
  return (pod.spec?.tolerations ?? []).some((toleration) => matchesTaint(toleration, taint));
}

/** An empty effect or, with Exists, an empty key matches all (v1.Toleration.ToleratesTaint). */
function matchesTaint(
  toleration: Toleration,
  taint: { readonly key: string; readonly value?: string; readonly effect: string },
): boolean {
  if ((toleration.effect ?? "") !== "" && toleration.effect !== taint.effect) return false;
  if ((toleration.key ?? "") !== "" && toleration.key !== taint.key) return false;
  const operator = toleration.operator || "Equal";
  return (
    operator === "Exists" ||
    (operator === "Equal" && (toleration.value ?? "") === (taint.value ?? "") && (toleration.key ?? "") !== "")
  );
}
