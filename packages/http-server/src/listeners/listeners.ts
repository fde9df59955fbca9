import type { Logger } from "@nodelet/core";
import type { NodeletServerData } from "../data/server-data.ts";
import { disabledRoutes } from "../endpoints/disabled.ts";
import { healthRoutes, pingCheck } from "../endpoints/healthz.ts";
import { podsRoute } from "../endpoints/pods.ts";
import { Router } from "../routing/router.ts";
import { HttpListener } from "./http-listener.ts";

/** The health listener (healthzBindAddress:healthzPort): `/healthz` and `/healthz/ping`. It says that the process answers, as upstream's does. */
export function createHealthListener(options: { readonly logger: Logger }): HttpListener {
  return new HttpListener({
    name: "health",
    router: new Router(healthRoutes(() => [pingCheck])),
    logger: options.logger,
  });
}

/**
 * The read-only listener (readOnlyPort), without authentication: pods and health, nothing that changes anything. What upstream has behind
 * authentication is refused (405) or absent (404).
 */
export function createReadOnlyListener(options: {
  readonly data: NodeletServerData;
  readonly logger: Logger;
}): HttpListener {
  const { data, logger } = options;
  const checks = () => [pingCheck, ...data.healthChecks()];
  const router = new Router([...healthRoutes(checks), podsRoute(data), ...disabledRoutes()]);
  return new HttpListener({ name: "read-only", router, logger });
}
