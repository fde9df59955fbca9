import { sendText } from "../responses/text.ts";
import type { Route } from "../routing/router.ts";

const PATHS = [
  "/run/",
  "/exec/",
  "/attach/",
  "/portForward/",
  "/containerLogs/",
  "/runningpods/",
  "/debug/pprof/",
  "/logs/",
];

/** Endpoints that a listener without authentication refuses by name, as upstream does: 405 for every method. */
export function disabledRoutes(): readonly Route[] {
  return PATHS.map((path) => ({
    path,
    handle: (_, response) => sendText(response, { status: 405, text: "Debug endpoints are disabled.\n" }),
  }));
}
