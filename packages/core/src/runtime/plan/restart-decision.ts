import type { Container, Pod } from "../../api/index.ts";
import type { ObservedContainer } from "../observed-pod.ts";

/** When a container that ended runs again. */
export type RestartPolicy = "Always" | "OnFailure" | "Never";

/** The part of a container's definition that decides about restarts. */
export type RestartTerms = Pick<Container, "restartPolicy" | "restartPolicyRules">;

/** The container's own policy, else the pod's; Always when neither says. */
export function effectiveRestartPolicy(pod: Pod, container: RestartTerms): RestartPolicy {
  const policy = container.restartPolicy ?? pod.spec?.restartPolicy;
  return policy === "OnFailure" || policy === "Never" ? policy : "Always";
}

/**
 * Whether an exit with this code leads to a restart: the first rule that matches (only read where the container has a policy of its own,
 * KEP-5307), else the effective policy. The rule action RestartAllContainers counts as a restart; taking down the whole pod for it is not done.
 */
export function restartsAfterExit(pod: Pod, container: RestartTerms, exitCode: number): boolean {
  if (container.restartPolicy !== undefined && matchingRule(container, exitCode) !== undefined) return true;
  switch (effectiveRestartPolicy(pod, container)) {
    case "Always":
      return true;
    case "OnFailure":
      return exitCode !== 0;
    case "Never":
      return false;
  }
}

/**
 * Whether a container shall be started (again): not when the pod is being deleted; yes when it was never made, and when it never got to run
 * (created) or is lost to the runtime (unknown), whatever the policy; not while it runs; after an exit as `restartsAfterExit` says.
 */
export function shouldBeRestarted(options: {
  readonly pod: Pod;
  readonly container: RestartTerms;
  readonly instance: Pick<ObservedContainer, "state" | "exitCode"> | undefined;
  /** Exit code that the last status showed of an instance that the runtime no longer has. */
  readonly shownExitCode?: number | undefined;
}): boolean {
  const { pod, container, instance, shownExitCode } = options;
  if (pod.metadata?.deletionTimestamp !== undefined) return false;
  if (instance === undefined) return shownExitCode === undefined || restartsAfterExit(pod, container, shownExitCode);
  switch (instance.state) {
    case "running":
      return false;
    case "created":
    case "unknown":
      return true;
    case "exited":
      return restartsAfterExit(pod, container, instance.exitCode);
  }
}

function matchingRule(container: RestartTerms, exitCode: number): string | undefined {
  for (const rule of container.restartPolicyRules ?? []) {
    const values = rule.exitCodes?.values ?? [];
    const listed = values.includes(exitCode);
    const matches = rule.exitCodes?.operator === "In" ? listed : rule.exitCodes?.operator === "NotIn" && !listed;
    if (matches && (rule.action === "Restart" || rule.action === "RestartAllContainers")) return rule.action;
  }
  return undefined;
}
