export * from "./status-snapshot.ts";
