export * from "./decision.ts";
