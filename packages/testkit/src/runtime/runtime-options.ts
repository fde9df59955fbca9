import type { Clock, RuntimeCapabilities } from "@nodelet/core";
import type { InMemoryImages } from "../images/in-memory-images.ts";
import type { SeededRandom } from "../random/seeded-random.ts";
import type { ContainerOutput } from "./container-output.ts";
import type { ContainerdRelease } from "./containerd-profile.ts";
import type { IpPoolOptions } from "./ip-pool.ts";
import type { Program } from "./program.ts";
import type { RuntimeCall } from "./runtime-call.ts";

/** How an InMemoryRuntime behaves. Only the clock is needed. */
export interface InMemoryRuntimeOptions {
  readonly clock: Clock;
  /** Makes ids and decides what becomes of calls that were given up; seeded with 1 when absent. */
  readonly random?: SeededRandom;
  /** The store containers are made from; an empty one when absent. */
  readonly images?: InMemoryImages;
  /** What containers do; the first that answers decides, `defaultProgram` at last. */
  readonly programs?: readonly Program[];
  /** Where logs and termination messages go; nowhere when absent. */
  readonly output?: ContainerOutput;
  /** How long the daemon takes for a call, in milliseconds; nothing when absent. `sampledLatency` makes one. */
  readonly latencyMs?: (call: RuntimeCall) => number;
  /** How long the client waits for an answer: 120,000 ms, the kubelet's runtimeRequestTimeout, when absent. */
  readonly requestTimeoutMs?: number;
  /** How likely a call takes effect although its client gave up or the daemon restarted under it; 0.5 when absent. */
  readonly lateEffectProbability?: number;
  readonly ips?: IpPoolOptions;
  /** Runtime handlers besides those that every containerd has (the empty name and `runc`). */
  readonly runtimeHandlers?: readonly string[];
  /** Which containerd it is like; 2.1 when absent. 1.6 has no container events and does not tell a container's user. */
  readonly likeContainerd?: ContainerdRelease;
  readonly capabilities?: Partial<RuntimeCapabilities>;
}

/** Latencies in milliseconds by call, drawn evenly between both ends; calls that are not named take none. */
export function sampledLatency(options: {
  readonly random: SeededRandom;
  readonly byCall: Partial<Record<RuntimeCall, { readonly minMs: number; readonly maxMs: number }>>;
}): (call: RuntimeCall) => number {
  return (call) => {
    const range = options.byCall[call];
    return range === undefined ? 0 : options.random.int({ min: range.minMs, max: range.maxMs });
  };
}

/** About what containerd takes on a small machine: a sandbox with its network 60 to 200 ms, a start 20 to 80 ms, reads 1 to 3 ms. */
export function containerdLatency(random: SeededRandom): (call: RuntimeCall) => number {
  const read = { minMs: 1, maxMs: 3 };
  return sampledLatency({
    random,
    byCall: {
      version: read,
      status: read,
      runSandbox: { minMs: 60, maxMs: 200 },
      stopSandbox: { minMs: 20, maxMs: 100 },
      removeSandbox: { minMs: 10, maxMs: 60 },
      sandboxStatus: read,
      listSandboxes: read,
      createContainer: { minMs: 5, maxMs: 30 },
      startContainer: { minMs: 20, maxMs: 80 },
      stopContainer: { minMs: 5, maxMs: 40 },
      removeContainer: { minMs: 5, maxMs: 40 },
      containerStatus: read,
      listContainers: read,
      imageStatus: read,
    },
  });
}
