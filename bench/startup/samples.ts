import type { Behaviour } from "./workload.ts";

/** What one start and removal of a workload took on one side. Times in milliseconds. */
export interface Sample {
  readonly side: "floor" | "agent";
  readonly pods: number;
  readonly behaviour: Behaviour;
  /** Until every container ran, as the runtime tells; for the agent until it shows every pod as Running, too. */
  readonly startMs: number;
  /** Until the last sandbox was removed. */
  readonly removeMs: number;
  /** CPU time of the runtime and all that it started; undefined where it cannot be measured. */
  readonly runtimeCpuMs: { readonly start: number; readonly remove: number } | undefined;
  readonly agent: AgentSample | undefined;
}

/** What only the agent has. */
export interface AgentSample {
  readonly healthyMs: number;
  readonly startCpuMs: number;
  readonly removeCpuMs: number;
  readonly idleMegabytes: number;
  readonly runningMegabytes: number;
}

/** The agent with pods that nothing happens to. */
export interface IdleSample {
  readonly pods: number;
  readonly seconds: number;
  /** CPU time in milliseconds a second. */
  readonly cpuMsPerSecond: number;
  readonly megabytes: number;
}

/** The middle value; of an even number the mean of the two in the middle. Throws for none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle];
  const lower = sorted[sorted.length % 2 === 0 ? middle - 1 : middle];
  if (upper === undefined || lower === undefined) throw new Error("a median of nothing");
  return (lower + upper) / 2;
}
