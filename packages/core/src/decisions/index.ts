export * from "./decision.ts";
export * from "./decision-log.ts";
