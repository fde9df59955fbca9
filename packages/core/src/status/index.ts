export { sameStatus } from "./equality.ts";
export { type PhaseInputs, type PodPhase, podPhase } from "./phase.ts";
export { computePodStatus, rejectedStatus } from "./pod-status.ts";
export { type StatusListener, StatusManager, type StatusManagerOptions } from "./status-manager.ts";
export * from "./status-snapshot.ts";
export { terminalStatus } from "./terminal-status.ts";
export { illegalTransition, withFinalPhase } from "./transitions.ts";
