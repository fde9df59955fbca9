import type { DecisionRecord, Pod } from "@nodelet/core";
import type { PodLook } from "./pod-row.ts";

/** Who is asked about a running agent: a client of its control socket, or the agent itself. */
export interface AgentWindow {
  pods(): Promise<readonly Pod[]>;
  /** Oldest first. */
  decisions(): Promise<readonly DecisionRecord[]>;
  /** With `work`: what each pod's worker does, by UID. */
  status(): Promise<unknown>;
}

/** Pods as the running agent has them at this moment, each with its newest decision. */
export async function lookAtPods(agent: AgentWindow): Promise<readonly PodLook[]> {
  const [pods, decisions, status] = await Promise.all([agent.pods(), agent.decisions(), agent.status()]);
  const newest = new Map<string, DecisionRecord>();
  for (const record of decisions) if (record.pod !== undefined) newest.set(record.pod.uid, record);
  const work = workOf(status);
  return pods.map((pod) => {
    const uid = pod.metadata?.uid ?? "";
    const lastDecision = newest.get(uid);
    const doing = Object.hasOwn(work, uid) ? work[uid] : undefined;
    return {
      pod,
      ...(typeof doing === "string" && { work: doing }),
      ...(lastDecision !== undefined && { lastDecision }),
    };
  });
}

/** What each pod's worker does, by UID, out of the agent's status. */
function workOf(status: unknown): Readonly<Record<string, unknown>> {
  const work = typeof status === "object" && status !== null ? (status as { work?: unknown }).work : undefined;
  return typeof work === "object" && work !== null ? (work as Record<string, unknown>) : {};
}
