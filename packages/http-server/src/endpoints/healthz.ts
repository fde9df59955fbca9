import type { ServerResponse } from "node:http";
import type { HealthCheck } from "../data/server-data.ts";
import { sendText } from "../responses/text.ts";
import type { Route, RouteRequest } from "../routing/router.ts";

/** Always well: that it answers is the news. */
export const pingCheck: HealthCheck = { name: "ping", check: () => undefined };

/** `/healthz` over all checks and `/healthz/<name>` for each, with upstream's texts. Any method. */
export function healthRoutes(checks: () => readonly HealthCheck[]): readonly Route[] {
  return [
    { path: "/healthz", handle: (request, response) => answerAll(checks(), request, response) },
    ...checks().map(
      ({ name }): Route => ({ path: `/healthz/${name}`, handle: (_, response) => answerOne(checks(), name, response) }),
    ),
  ];
}

function answerAll(checks: readonly HealthCheck[], request: RouteRequest, response: ServerResponse): void {
  const excluded = new Set(request.query.getAll("exclude"));
  const lines: string[] = [];
  let failed = false;
  for (const check of checks) {
    if (excluded.delete(check.name)) lines.push(`[+]${check.name} excluded: ok\n`);
    else if (reasonOf(check) === undefined) lines.push(`[+]${check.name} ok\n`);
    else {
      failed = true;
      // Anybody may ask: what is wrong in detail is for the log.
      lines.push(`[-]${check.name} failed: reason withheld\n`);
    }
  }
  if (excluded.size > 0) {
    const names = [...excluded].slice(0, 10).map((name) => JSON.stringify(name.slice(0, 100)));
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names.join(", ")}\n`);
  }
  if (failed) return sendText(response, { status: 500, text: `${lines.join("")}healthz check failed\n` });
  const verbose = request.query.has("verbose");
  sendText(response, { status: 200, text: verbose ? `${lines.join("")}healthz check passed\n` : "ok" });
}

function answerOne(checks: readonly HealthCheck[], name: string, response: ServerResponse): void {
  const check = checks.find((candidate) => candidate.name === name);
  const reason = check === undefined ? "no such check" : reasonOf(check);
  if (reason === undefined) return sendText(response, { status: 200, text: "ok" });
  sendText(response, { status: 500, text: `internal server error: ${reason}\n` });
}

function reasonOf(check: HealthCheck): string | undefined {
  try {
    return check.check();
  } catch (error) {
    return error instanceof Error ? error.message : "the check failed";
  }
}
