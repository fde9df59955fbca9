import type { Pod } from "../../api/index.ts";
import { NodeletError } from "../../errors/index.ts";
import { validateMetadata } from "./metadata.ts";
import { validatePodSpec } from "./pod-spec.ts";
import { type FieldProblem, formatProblem, Problems } from "./problems.ts";

/** Everything that the API server would find wrong with a pod to which defaults were applied. Pure; empty when the pod is valid. */
export function validatePod(pod: Pod): readonly FieldProblem[] {
  const problems = new Problems();
  validateMetadata(pod.metadata ?? {}, problems);
  validatePodSpec(pod, problems);
  return problems.list;
}

/** Throws `invalid` that names every problem when there is one. */
export function assertValidPod(pod: Pod): void {
  throwProblems("invalid pod", validatePod(pod));
}

/** Throws `invalid` with all problems after `what`; returns when there are none. */
export function throwProblems(what: string, problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw new NodeletError("invalid", `${what}: ${problems.map(formatProblem).join("; ")}`);
}
