/** Validation of pods as the API server does it, with its messages and field paths. */
export { identityFault, validateGivenUid } from "./metadata.ts";
export { assertValidPod, throwProblems, validatePod } from "./pod.ts";
export { assertValidUpdate, validatePodUpdate } from "./pod-update.ts";
export { type FieldProblem, formatProblem, type ProblemKind } from "./problems.ts";
