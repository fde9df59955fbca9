import type { Pod, PodSpec, Toleration } from "../../api/index.ts";
import { cloneData } from "../clone-data.ts";
import { sameValue } from "../same-value.ts";
import { throwProblems, validatePod } from "./pod.ts";
import { type FieldProblem, Problems } from "./problems.ts";

const ONLY_THESE =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
  "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/** What of a pod may change while it lives: images, a deadline that comes nearer, more tolerations, and labels and annotations. */
export function validatePodUpdate(update: { readonly before: Pod; readonly after: Pod }): readonly FieldProblem[] {
  const { before, after } = update;
  const problems = new Problems();
  const beforeSpec: PodSpec = before.spec ?? { containers: [] };
  const afterSpec: PodSpec = after.spec ?? { containers: [] };
  validateDeadline({ before: beforeSpec, after: afterSpec }, problems);
  validateAddedTolerations({ before: beforeSpec.tolerations ?? [], after: afterSpec.tolerations ?? [] }, problems);
  if (!sameValue(withoutChangeable(beforeSpec), withoutChangeable(afterSpec)) || !sameGrace(beforeSpec, afterSpec)) {
    problems.forbidden({ path: "spec", detail: ONLY_THESE });
  }
  return [...validatePod(after), ...problems.list];
}

/** Throws `invalid` that names every problem when the change may not be made. */
export function assertValidUpdate(update: { readonly before: Pod; readonly after: Pod }): void {
  throwProblems("invalid pod update", validatePodUpdate(update));
}

function withoutChangeable(spec: PodSpec): PodSpec {
  const copy = cloneData(spec);
  for (const container of [...copy.containers, ...(copy.initContainers ?? [])]) delete container.image;
  delete copy.activeDeadlineSeconds;
  delete copy.tolerations;
  delete copy.terminationGracePeriodSeconds;
  return copy;
}

function sameGrace(before: PodSpec, after: PodSpec): boolean {
  const [old, next] = [before.terminationGracePeriodSeconds, after.terminationGracePeriodSeconds].map(Number);
  return old === next || (Number(old) < 0 && next === 1);
}

function validateDeadline(
  { before, after }: { readonly before: PodSpec; readonly after: PodSpec },
  problems: Problems,
): void {
  const path = "spec.activeDeadlineSeconds";
  if (before.activeDeadlineSeconds === undefined) return;
  if (after.activeDeadlineSeconds === undefined) {
    problems.invalid({ path, value: null, detail: "must not update from a positive integer to nil value" });
  } else if (after.activeDeadlineSeconds > before.activeDeadlineSeconds) {
    problems.invalid({
      path,
      value: after.activeDeadlineSeconds,
      detail: `must be less than or equal to previous value`,
    });
  }
}

function validateAddedTolerations(
  { before, after }: { readonly before: readonly Toleration[]; readonly after: readonly Toleration[] },
  problems: Problems,
): void {
  const kept = (old: Toleration): boolean =>
    after.some((next) =>
      sameValue({ ...old, tolerationSeconds: undefined }, { ...next, tolerationSeconds: undefined }),
    );
  if (before.every(kept)) return;
  problems.forbidden({
    path: "spec.tolerations",
    detail: "existing toleration can not be modified except its tolerationSeconds",
  });
}
