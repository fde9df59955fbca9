export { BackOff, type BackOffPolicy, type BackOffRecord, type BackOffWindow, nextBackOffMs } from "./backoff.ts";
