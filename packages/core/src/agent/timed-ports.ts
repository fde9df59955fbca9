import { withDeadline } from "../async/delay.ts";
import type { CallOptions } from "../ports/runtime-service.ts";
import type { AgentPorts } from "./agent.ts";

/** Ports whose every call answers soon, or is given up. The runtime and the status sink are called with deadlines of their own. */
const TIMED = ["podFiles", "containerLogs", "cgroups", "state", "objects", "hostNetwork", "machine", "images"] as const;
/** Methods that answer at once, and pulls, which take as long as they take. */
const UNTIMED: ReadonlySet<PropertyKey> = new Set(["parentFor", "pullImage"]);

/**
 * The same ports with a deadline on each call that holds even if the adapter keeps none and heeds no signal: a directory on a server that is away, or
 * a cgroup whose processes cannot be killed, holds up its pod only, and never the end of the agent. Rejects with `deadline` or `cancelled` then.
 */
export function timedPorts(ports: AgentPorts, options: { readonly timeoutMs: number }): AgentPorts {
  const terms = { clock: ports.clock, ...options };
  const timed = TIMED.map((name) => [name, timedPort(ports[name], { ...terms, name })]);
  return { ...ports, ...(Object.fromEntries(timed) as Pick<AgentPorts, (typeof TIMED)[number]>) };
}

function timedPort<T extends object>(
  port: T,
  terms: { readonly clock: AgentPorts["clock"]; readonly timeoutMs: number; readonly name: string },
): T {
  const { clock, timeoutMs, name } = terms;
  // The port itself may be frozen, and has private members: methods are called on it, and looked up when they are.
  return new Proxy({} as T, {
    get: (_, key) => {
      const method: unknown = Reflect.get(port, key, port);
      if (typeof method !== "function") return method;
      if (UNTIMED.has(key)) return method.bind(port) as unknown;
      return (request: CallOptions = {}): Promise<unknown> => {
        const { signal: parent } = request;
        const deadline = { clock, timeoutMs, what: `${name}.${String(key)}`, ...(parent && { parent }) };
        return withDeadline(deadline, async (signal) => Reflect.apply(method, port, [{ ...request, signal }]));
      };
    },
  });
}
