import { writeFileSync } from "node:fs";
import type { Logger } from "@nodelet/core";
import type { LogOutput } from "@nodelet/host-adapter";
import type { StopSwitch } from "./stop-switch.ts";

/**
 * SIGTERM, SIGINT and SIGHUP (the terminal went away) stop gracefully. A second SIGTERM or SIGINT ends the process at once; SIGHUP often comes twice,
 * from kernel and shell. SIGUSR1 does nothing: without a listener, Node.js would open its debugger to every user of the machine. Answers the way to
 * stop listening.
 */
export function stopOnSignals(options: { readonly stop: StopSwitch; readonly output: LogOutput }): () => void {
  const { stop, output } = options;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stop.reason !== undefined) {
      if (signal === "SIGHUP") return;
      output.flushSync();
      process.exit(1);
    }
    stop.request(`${signal} was received`);
  };
  const nothing = (): void => undefined;
  process.on("SIGTERM", onSignal).on("SIGINT", onSignal).on("SIGHUP", onSignal).on("SIGUSR1", nothing);
  return () => {
    process.off("SIGTERM", onSignal).off("SIGINT", onSignal).off("SIGHUP", onSignal).off("SIGUSR1", nothing);
  };
}

/**
 * A fault that nothing handled leaves the process in a state that nobody knows: it is reported and the process ends with 1. Pods run on, and a new
 * start finds them.
 */
export function exitOnFaults(options: { readonly logger: Logger; readonly output: LogOutput }): void {
  const { logger, output } = options;
  const onFault = (err: unknown): void => {
    const stack = err instanceof Error ? err.stack : undefined;
    logger.error("A fault that nothing handled ends the agent; its pods run on", { err, stack });
    output.flushSync();
    process.exit(1);
  };
  process.on("uncaughtException", onFault).on("unhandledRejection", onFault);
}

/** Makes the agent one of the last that the kernel kills for memory. Not being allowed to is told and no fault. */
export function protectFromOomKiller(options: { readonly oomScoreAdj: number; readonly logger: Logger }): void {
  const { oomScoreAdj, logger } = options;
  try {
    writeFileSync("/proc/self/oom_score_adj", String(oomScoreAdj));
  } catch (err) {
    const reason = err instanceof Error ? err.message : String(err);
    logger.info("The agent's own oom_score_adj stays as it is", { wanted: oomScoreAdj, reason });
  }
}

/** Says what will not work for a user that is not root. */
export function warnWithoutRoot(logger: Logger): void {
  const uid = process.geteuid?.();
  if (uid !== 0)
    logger.warn("nodelet needs root: cgroups, mounts and the runtime's socket are root's. Going on without", { uid });
}
