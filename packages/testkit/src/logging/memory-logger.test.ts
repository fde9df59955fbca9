import { expect, it } from "vitest";
import { MemoryLogger, silentLogger } from "./memory-logger.ts";

it("keeps records up to its verbosity, with the fields that were bound", () => {
  const logger = new MemoryLogger({ verbosity: 2 });
  const pod = logger.with({ pod: "default/web" }).with({ container: "app" });
  const err = new Error("broken");
  logger.info("started");
  pod.warn("slow", { ms: 5 });
  pod.error("failed", { err });
  pod.debug(2, "seen");
  pod.debug(3, "not seen");
  const bound = { pod: "default/web", container: "app" };
  expect(logger.records).toEqual([
    { level: "info", verbosity: 0, message: "started", fields: {} },
    { level: "warn", verbosity: 0, message: "slow", fields: { ...bound, ms: 5 } },
    { level: "error", verbosity: 0, message: "failed", fields: { ...bound, err } },
    { level: "debug", verbosity: 2, message: "seen", fields: bound },
  ]);
  expect([pod.enabled(2), pod.enabled(3)]).toEqual([true, false]);
});

it("the silent logger is silent at every level", () => {
  const logger = silentLogger.with({ a: 1 });
  logger.error("nobody hears this");
  expect(logger.enabled(0)).toBe(false);
});
