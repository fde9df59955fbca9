import type { HTTPGetAction, IntOrString, Lifecycle, LifecycleHandler, Probe } from "../../api/index.ts";
import type { Place } from "./env.ts";
import { headerName, portName, portNumber } from "./formats.ts";

/** Order in which upstream looks at handlers; only one may be there. */
const HANDLERS = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] as const;
const COUNTS = [
  "initialDelaySeconds",
  "timeoutSeconds",
  "periodSeconds",
  "successThreshold",
  "failureThreshold",
] as const;

type AnyHandler = LifecycleHandler & Pick<Probe, "grpc">;

/** Hooks of one container. `graceSeconds` is the pod's. */
export function validateLifecycle(lifecycle: Lifecycle, place: Place & { readonly graceSeconds: number }): void {
  for (const name of ["postStart", "preStop"] as const) {
    const handler = lifecycle[name];
    if (handler !== undefined) validateHandler(handler, { ...place, path: `${place.path}.${name}` });
  }
}

/** A probe; `kind` is its field name. */
export function validateProbe(
  probe: Probe | undefined,
  place: Place & { readonly kind: "livenessProbe" | "readinessProbe" | "startupProbe"; readonly graceSeconds: number },
): void {
  if (probe === undefined) return;
  const { problems, kind } = place;
  const path = `${place.path}.${kind}`;
  validateHandler(probe, { ...place, path });
  for (const field of COUNTS) {
    const value = probe[field] ?? 0;
    if (value < 0) problems.invalid({ path: `${path}.${field}`, value, detail: "must be greater than or equal to 0" });
  }
  const grace = probe.terminationGracePeriodSeconds;
  if (grace !== undefined && grace <= 0) {
    problems.invalid({ path: `${path}.terminationGracePeriodSeconds`, value: grace, detail: "must be greater than 0" });
  }
  if (kind === "readinessProbe" && grace !== undefined) {
    problems.invalid({
      path: `${path}.terminationGracePeriodSeconds`,
      value: grace,
      detail: "must not be set for readinessProbes",
    });
  }
  if (kind !== "readinessProbe" && probe.successThreshold !== 1) {
    problems.invalid({ path: `${path}.successThreshold`, value: probe.successThreshold ?? 0, detail: "must be 1" });
  }
}

function validateHandler(handler: AnyHandler, place: Place & { readonly graceSeconds: number }): void {
  const { path, problems } = place;
  const [first, ...others] = HANDLERS.filter((name) => handler[name] !== undefined);
  if (first === undefined) problems.required({ path, detail: "must specify a handler type" });
  for (const name of others)
    problems.forbidden({ path: `${path}.${name}`, detail: "may not specify more than 1 handler type" });
  if (first === "exec" && (handler.exec?.command ?? []).length === 0)
    problems.required({ path: `${path}.exec.command` });
  if (first === "httpGet" && handler.httpGet !== undefined)
    validateHttpGet(handler.httpGet, { path: `${path}.httpGet`, problems });
  if (first === "tcpSocket") validatePort(handler.tcpSocket?.port, { path: `${path}.tcpSocket.port`, problems });
  if (first === "grpc") validatePort(handler.grpc?.port, { path: `${path}.grpc.port`, problems });
  const seconds = Number(handler.sleep?.seconds ?? 0);
  if (first === "sleep" && (seconds < 0 || seconds > place.graceSeconds)) {
    const detail = `must be non-negative and less than terminationGracePeriodSeconds (${place.graceSeconds})`;
    problems.invalid({ path: `${path}.sleep`, value: handler.sleep?.seconds, detail });
  }
}

function validateHttpGet(action: HTTPGetAction, { path, problems }: Place): void {
  if (!action.path) problems.required({ path: `${path}.path` });
  validatePort(action.port, { path: `${path}.port`, problems });
  if (action.scheme !== "HTTP" && action.scheme !== "HTTPS") {
    problems.unsupported({ path: `${path}.scheme`, value: action.scheme ?? "", supported: ["HTTP", "HTTPS"] });
  }
  for (const header of action.httpHeaders ?? []) {
    problems.invalidAll({ path: `${path}.httpHeaders`, value: header.name, details: headerName(header.name) });
  }
}

function validatePort(port: IntOrString | undefined, { path, problems }: Place): void {
  const details = typeof port === "string" ? portName(port) : portNumber(port ?? 0);
  problems.invalidAll({ path, value: port ?? 0, details });
}
