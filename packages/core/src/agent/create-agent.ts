import type { Agent, AgentOptions } from "./agent.ts";
import { NodeAgent } from "./node-agent.ts";

/**
 * Assembles an agent from its configuration and ports. Does nothing yet: `run` starts it.
 *
 * The way of a pod from here: a source tells its wish (pods/), the sync loop hands it to its worker (agent/pod-worker.ts), which asks
 * `planPod` what to do (runtime/plan/), lets the executor do it (runtime/execute/) and tells the status (status/).
 */
export function createAgent(options: AgentOptions): Agent {
  return new NodeAgent(options);
}
