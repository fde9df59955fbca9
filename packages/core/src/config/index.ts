export * from "./agent-config.ts";
