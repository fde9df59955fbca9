export type { Agent, AgentHealth, AgentOptions, AgentPorts, PodView } from "./agent.ts";
export { createAgent } from "./create-agent.ts";
export { type StandalonePorts, standalonePorts } from "./standalone-ports.ts";
