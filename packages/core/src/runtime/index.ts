export * from "./observe/index.ts";
export * from "./observed-pod.ts";
export * from "./plan/index.ts";
export * from "./pod-plan.ts";
export * from "./pod-snapshot.ts";
