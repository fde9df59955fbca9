export { type Garbage, type GarbageLimits, selectDeadContainers, selectGarbage } from "./garbage.ts";
export { MINIMUM_GRACE_SECONDS } from "./grace.ts";
export { type KillOptions, planKill } from "./kill-plan.ts";
export { planPod } from "./plan.ts";
export {
  effectiveRestartPolicy,
  type RestartPolicy,
  restartsAfterExit,
  shouldBeRestarted,
} from "./restart-decision.ts";
export { type SandboxDecision, sandboxDecision } from "./sandbox-decision.ts";
