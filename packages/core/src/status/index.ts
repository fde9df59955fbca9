export { computePodStatus, rejectedStatus } from "./pod-status.ts";
export * from "./status-snapshot.ts";
