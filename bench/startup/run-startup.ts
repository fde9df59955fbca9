import { setTimeout as sleep } from "node:timers/promises";
import type { PreparedNode } from "@nodelet/dev-node";
import { AgentProcess } from "./agent-process.ts";
import { RawFloor } from "./raw-floor.ts";
import { RuntimeCpu } from "./runtime-cpu.ts";
import { RuntimeWatch } from "./runtime-watch.ts";
import type { AgentSample, IdleSample, Sample } from "./samples.ts";
import { type Behaviour, podsOf, type Workload } from "./workload.ts";

/** What is measured. */
export interface StartupOptions {
  readonly node: PreparedNode;
  /** Program and first arguments of the agent. */
  readonly agentCommand: readonly string[];
  readonly podCounts: readonly number[];
  readonly behaviours: readonly Behaviour[];
  readonly rounds: number;
  /** How long to watch the agent idle with the largest number of pods; 0 for not at all. */
  readonly idleSeconds: number;
  readonly log: (line: string) => void;
}

/** All that was measured, in its order. */
export interface StartupResult {
  readonly samples: readonly Sample[];
  readonly idle: IdleSample | undefined;
}

/** Pause in which a started workload comes to rest before it is removed, and an agent after it became healthy. */
const SETTLE_MS = 1500;
const IDLE_SETTLE_MS = 5000;

/** Measures floor and agent in turn, on one runtime, with a fresh agent each time. Whoever comes first changes from round to round. */
export async function runStartup(options: StartupOptions): Promise<StartupResult> {
  const { node, podCounts, behaviours, rounds, log } = options;
  const { pid, cgroupRoot } = node.containerd;
  const cpu = pid === undefined ? undefined : await RuntimeCpu.open({ daemonPid: pid, cgroupRoot });
  const bench = new StartupBench(options, cpu);
  const samples: Sample[] = [];
  try {
    for (const load of podCounts.flatMap((pods) => behaviours.map((behaviour) => ({ pods, behaviour })))) {
      for (let round = 0; round < rounds; round += 1) {
        const sides = [() => bench.floor(load), () => bench.agent(load)];
        for (const measure of round % 2 === 0 ? sides : sides.toReversed()) {
          const sample = await measure();
          samples.push(sample);
          log(describe(sample));
        }
      }
    }
    const idle = options.idleSeconds > 0 ? await bench.idle(Math.max(...podCounts)) : undefined;
    return { samples, idle };
  } finally {
    await cpu?.close();
  }
}

type Load = Pick<Workload, "pods" | "behaviour">;

class StartupBench {
  readonly #options: StartupOptions;
  readonly #cpu: RuntimeCpu | undefined;

  constructor(options: StartupOptions, cpu: RuntimeCpu | undefined) {
    this.#options = options;
    this.#cpu = cpu;
  }

  async floor(load: Load): Promise<Sample> {
    const { endpoint, containerd } = this.#options.node;
    const { cgroupRoot, dir } = containerd;
    const floor = new RawFloor({ endpoint, cgroupRoot, dir: `${dir}/bench-floor` });
    // The same listener hangs on the runtime as with the agent.
    return this.#withWatch(async () => {
      try {
        const start = await this.#timed(() => floor.start({ ...load, name: "floor" }));
        await sleep(SETTLE_MS);
        const remove = await this.#timed(() => floor.remove());
        const runtimeCpuMs = this.#cpu && { start: start.cpuMs, remove: remove.cpuMs };
        return {
          ...load,
          side: "floor",
          startMs: start.result,
          removeMs: remove.result,
          runtimeCpuMs,
          agent: undefined,
        };
      } finally {
        floor.close();
      }
    });
  }

  async agent(load: Load): Promise<Sample> {
    return this.#withAgent(load, async ({ agent, start, remove }) => {
      await sleep(SETTLE_MS);
      const idleMegabytes = await agent.residentMegabytes();
      const beforeMs = await agent.cpuTimeMs();
      const started = await this.#timed(start);
      const startedCpuMs = await agent.cpuTimeMs();
      await sleep(SETTLE_MS);
      const runningMegabytes = await agent.residentMegabytes();
      const removingMs = await agent.cpuTimeMs();
      const removed = await this.#timed(remove);
      const extra: AgentSample = {
        healthyMs: agent.healthyMs,
        startCpuMs: startedCpuMs - beforeMs,
        removeCpuMs: (await agent.cpuTimeMs()) - removingMs,
        idleMegabytes,
        runningMegabytes,
      };
      const runtimeCpuMs = this.#cpu && { start: started.cpuMs, remove: removed.cpuMs };
      const times = { startMs: started.result, removeMs: removed.result };
      return { ...load, side: "agent", ...times, runtimeCpuMs, agent: extra };
    });
  }

  /** CPU and memory of the agent while nothing happens to its pods. */
  async idle(pods: number): Promise<IdleSample> {
    const { idleSeconds } = this.#options;
    return this.#withAgent({ pods, behaviour: "obeys" }, async ({ agent, start, remove }) => {
      await start();
      await sleep(IDLE_SETTLE_MS);
      const [beganMs, beforeMs] = [performance.now(), await agent.cpuTimeMs()];
      await sleep(idleSeconds * 1000);
      const [usedMs, elapsedMs] = [(await agent.cpuTimeMs()) - beforeMs, performance.now() - beganMs];
      const megabytes = await agent.residentMegabytes();
      await remove();
      return { pods, seconds: idleSeconds, cpuMsPerSecond: (usedMs / elapsedMs) * 1000, megabytes };
    });
  }

  async #withAgent<T>(
    load: Load,
    work: (parts: {
      readonly agent: AgentProcess;
      readonly start: () => Promise<number>;
      readonly remove: () => Promise<number>;
    }) => Promise<T>,
  ): Promise<T> {
    const { node, agentCommand } = this.#options;
    const { cgroupRoot, dir } = node.containerd;
    const pods = podsOf({ ...load, name: "agent" });
    return this.#withWatch(async (watch) => {
      const place = { endpoint: node.endpoint, cgroupRoot, dir: `${dir}/bench-agent` };
      const agent = await AgentProcess.start({ ...place, command: agentCommand });
      try {
        return await work({
          agent,
          start: async () => {
            const beganMs = await agent.addManifests(pods);
            await watch.started(pods.length);
            return (await agent.showsRunning(pods.length)) - beganMs;
          },
          remove: async () => {
            const beganMs = await agent.removeManifests(pods);
            const goneMs = (await watch.gone()) - beganMs;
            await agent.showsNothing();
            return goneMs;
          },
        });
      } finally {
        await agent.stop();
      }
    });
  }

  async #withWatch<T>(work: (watch: RuntimeWatch) => Promise<T>): Promise<T> {
    const watch = new RuntimeWatch({ endpoint: this.#options.node.endpoint });
    try {
      await watch.open();
      return await work(watch);
    } finally {
      watch.close();
    }
  }

  async #timed<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly cpuMs: number }> {
    const before = (await this.#cpu?.usedMs()) ?? 0;
    const result = await work();
    return { result, cpuMs: ((await this.#cpu?.usedMs()) ?? 0) - before };
  }
}

function describe({ side, pods, behaviour, startMs, removeMs, agent }: Sample): string {
  const cpu = agent === undefined ? "" : `, agent CPU ${agent.startCpuMs} + ${agent.removeCpuMs} ms`;
  return `${side} ${pods} ${behaviour}: start ${Math.round(startMs)} ms, remove ${Math.round(removeMs)} ms${cpu}`;
}
