import type { Pod } from "@nodelet/core";
import type { CriAdapter } from "@nodelet/cri-adapter";
import type { AgentUnderTest } from "./agent-under-test.ts";

const LOG_LINES = 60;
const DECISIONS = 40;

/** Pods, last decisions and the end of the log of an agent, for a failure. */
export async function describeAgent(agent: AgentUnderTest): Promise<string> {
  const running = agent.pid === undefined ? "is not running" : `is process ${agent.pid}`;
  const parts = [`=== agent in ${agent.dirs.root} ${running}`];
  if (agent.pid !== undefined) {
    parts.push("--- pods", ...(await agent.pods().then(podLines, failure)));
    const decisions = await agent.decisions().catch(() => []);
    parts.push("--- last decisions");
    for (const { pod, action, reason, message, outcome } of decisions.slice(-DECISIONS))
      parts.push(`${pod?.name ?? "-"} ${action} ${reason} (${outcome}): ${message}`);
  }
  parts.push("--- end of its log", await agent.logTail(LOG_LINES));
  return parts.join("\n");
}

/** Sandboxes and containers that the runtime has. */
export async function describeRuntime(cri: CriAdapter): Promise<string> {
  const sandboxes = await cri.runtime.listSandboxes().catch(failure);
  const containers = await cri.runtime.listContainers().catch(failure);
  const parts = ["=== runtime"];
  for (const each of sandboxes)
    parts.push(
      typeof each === "string"
        ? each
        : `${each.id.slice(0, 12)} ${each.state} ${each.metadata.name} ${each.metadata.uid}`,
    );
  for (const each of containers)
    parts.push(
      typeof each === "string"
        ? each
        : `  ${each.id.slice(0, 12)} in ${each.sandboxId.slice(0, 12)} ${each.state} ${each.metadata.name}#${each.metadata.attempt}`,
    );
  return parts.join("\n");
}

function podLines(pods: readonly Pod[]): string[] {
  return pods.map(({ metadata, status }) => {
    const { containerStatuses = [], initContainerStatuses = [] } = status ?? {};
    const states = [...initContainerStatuses, ...containerStatuses].map(
      ({ name, restartCount, state }) => `${name}#${restartCount}=${JSON.stringify(state)}`,
    );
    return `${metadata?.name} ${metadata?.uid} ${status?.phase} ${status?.reason ?? ""} ${states.join(" ")}`;
  });
}

function failure(error: unknown): string[] {
  return [`cannot be told: ${error instanceof Error ? error.message : String(error)}`];
}
