import { setTimeout as sleep } from "node:timers/promises";
import type { AgentConfig, Logger } from "@nodelet/core";
import { prepareHostDirectories } from "@nodelet/host-adapter";
import type { Container } from "inversify";
import type { Settings } from "../settings/settings-table.ts";
import { KUBERNETES_VERSION, NODELET_VERSION } from "../version.ts";
import { createContainer } from "../wiring/container.ts";
import { ids } from "../wiring/identifiers.ts";
import { lockPlaces } from "./locks.ts";
import { exitOnFaults, protectFromOomKiller, stopOnSignals, warnWithoutRoot } from "./process-care.ts";
import { StopSwitch } from "./stop-switch.ts";

/** How long a stop may take. What still hangs then (a call of the runtime, a file system) is left to the kernel. */
const STOP_TIMEOUT_MS = 15_000;

/** Everything that is known before the agent runs. */
export interface AgentRun {
  readonly name: string;
  readonly settings: Settings;
  readonly config: AgentConfig;
  /** What the configuration asked for and will not get. */
  readonly warnings: readonly string[];
  readonly deprecatedFlags: readonly string[];
  readonly files: readonly string[];
}

/** Runs one agent in this process until it is told to stop. Its pods run on. Answers the exit code; what kept it from running is told in the log. */
export async function runAgent(run: AgentRun): Promise<number> {
  const { settings, config } = run;
  const stop = new StopSwitch();
  const container = createContainer({ settings, config, stop });
  const output = container.get(ids.logOutput);
  const logger = container.get(ids.logger);
  exitOnFaults({ logger, output });
  const stopListening = stopOnSignals({ stop, output });
  try {
    introduce(run, logger);
    const locks = await lockPlaces({
      rootDir: settings.rootDir,
      runtimeEndpoint: settings.containerRuntimeEndpoint,
      nodeName: config.nodeName,
    });
    try {
      await prepareHostDirectories(settings);
      return await serve({ container, stop, logger });
    } finally {
      locks.release();
    }
  } catch (err) {
    logger.error("The agent cannot run", { err });
    return 1;
  } finally {
    stopListening();
    await output.flush();
  }
}

function introduce(run: AgentRun, logger: Logger): void {
  const { settings, config } = run;
  logger.info("Starting", {
    program: run.name,
    version: NODELET_VERSION,
    kubernetes: KUBERNETES_VERSION,
    node: config.nodeName,
    rootDir: settings.rootDir,
    runtime: settings.containerRuntimeEndpoint,
    ...(run.files.length > 0 && { configuration: run.files }),
  });
  for (const warning of run.warnings) logger.warn("Configuration", { problem: warning });
  if (run.deprecatedFlags.length > 0)
    logger.debug(1, "Flags that belong into the configuration file", { flags: run.deprecatedFlags });
  if (settings.staticPodPath === "" && settings.staticPodUrl === "")
    logger.warn("No source of pods is configured: nothing will run. Give --pod-manifest-path or --manifest-url");
  warnWithoutRoot(logger);
  protectFromOomKiller({ oomScoreAdj: settings.oomScoreAdj, logger });
}

/** Listeners and agent, until the stop. */
async function serve(parts: {
  readonly container: Container;
  readonly stop: StopSwitch;
  readonly logger: Logger;
}): Promise<number> {
  const { container, stop, logger } = parts;
  const agent = await container.getAsync(ids.agent);
  const close = await openListeners(container);
  stop.signal.addEventListener("abort", () => logger.info("Stopping; pods run on", { reason: stop.reason ?? "" }));
  try {
    const running = agent.run(stop.signal);
    // A fault of the agent is told by the await below; until then it is nobody's.
    running.catch(() => undefined);
    return await Promise.race([running.then(() => 0), stoppedTooLong(stop.signal, logger)]);
  } finally {
    await close();
    await container.unbindAllAsync();
  }
}

/** Opens what the settings ask for; answers how to close it. Throws for an address that is not to be had. */
async function openListeners(container: Container): Promise<() => Promise<void>> {
  const settings = container.get(ids.settings);
  const logger = container.get(ids.logger);
  const opened: { close(): Promise<void> }[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(opened.map((listener) => listener.close()));
  };
  try {
    if (settings.healthzPort > 0) {
      const health = container.get(ids.healthListener);
      opened.push(health);
      const address = { host: settings.healthzBindAddress, port: settings.healthzPort };
      await health.listen(address);
      logger.info("Health listener started", address);
    }
    if (settings.readOnlyPort > 0) {
      const readOnly = await container.getAsync(ids.readOnlyListener);
      opened.push(readOnly);
      const address = { host: settings.address, port: settings.readOnlyPort };
      await readOnly.listen(address);
      logger.info("Read-only listener started", address);
    }
    const control = await container.getAsync(ids.controlSocket);
    opened.push(control);
    await control.listen();
    return close;
  } catch (error) {
    await close();
    throw error;
  }
}

async function stoppedTooLong(signal: AbortSignal, logger: Logger): Promise<number> {
  if (!signal.aborted)
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  await sleep(STOP_TIMEOUT_MS, undefined, { ref: false });
  logger.error("The agent did not stop in time; the process ends without it", { limitMs: STOP_TIMEOUT_MS });
  return 1;
}
