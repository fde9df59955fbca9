import { hostname } from "node:os";
import { NodeletError } from "@nodelet/core";
import { runAgent } from "../run/run-agent.ts";
import { agentSettings } from "../settings/agent-settings.ts";
import { readFlags } from "../settings/flags.ts";
import { loadSettings } from "../settings/resolve-settings.ts";

/** The command without a name: settles the configuration and runs the agent until it is told to stop; then the process ends. */
export async function run(call: {
  readonly name: string;
  readonly parsed: Readonly<Record<string, unknown>>;
}): Promise<never> {
  if (process.platform !== "linux")
    throw new NodeletError("unsupported", `containers need Linux, and this is ${process.platform}`);
  const resolved = await loadSettings(readFlags(call.parsed));
  const { config, warnings } = agentSettings({ settings: resolved.values, hostname: hostname() });
  const code = await runAgent({
    name: call.name,
    settings: resolved.values,
    config,
    warnings: [...resolved.warnings, ...warnings],
    deprecatedFlags: resolved.deprecatedFlags,
    files: resolved.files,
  });
  // Whatever still hangs (a call of the runtime, a file system) must not hold the process.
  process.exit(code);
}
