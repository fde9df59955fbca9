import { type Clock, createAgent, defaultAgentConfig, ProgrammaticPodSource, type Timer } from "@nodelet/core";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "../clock/virtual-clock.ts";
import { SeededRandom } from "../random/seeded-random.ts";
import { containerdLatency } from "../runtime/runtime-options.ts";
import { inMemoryPorts } from "./in-memory-ports.ts";

/** A clock that knows which timers were set through it and neither fired nor were cancelled. */
class CountingClock implements Clock {
  readonly open = new Set<number>();
  readonly #clock: Clock;
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const id = (this.#count += 1);
    this.open.add(id);
    const timer = this.#clock.setTimer(delayMs, () => {
      this.open.delete(id);
      callback();
    });
    return {
      cancel: () => {
        this.open.delete(id);
        timer.cancel();
      },
    };
  }
}

/** While the first pods start, stops fall into the middle of steps. */
const startUp = Array.from({ length: 16 }, (_, index) => index * 47);
const commands = { runs: ["server"], crashes: ["sh", "-c", "exit 1"], missing: ["/no/such"] };

/** An agent whose pods run, crash, cannot start and cannot be pulled, under a clock that knows what it set. */
function startAgent() {
  const clock = new VirtualClock();
  const counting = new CountingClock(clock);
  const random = new SeededRandom(1);
  const latencyMs = containerdLatency(random.fork("latency"));
  const ports = inMemoryPorts({ clock, random, images: { present: ["localhost/app:1"] }, runtime: { latencyMs } });
  const pods = new ProgrammaticPodSource({ clock, random, nodeName: "node-1" });
  for (const [name, command] of Object.entries(commands)) {
    pods.apply({ metadata: { name }, spec: { containers: [{ name: "app", image: "localhost/app:1", command }] } });
  }
  pods.apply({ metadata: { name: "pulls" }, spec: { containers: [{ name: "app", image: "localhost/absent:1" }] } });
  const agent = createAgent({
    config: defaultAgentConfig("node-1"),
    ports: { ...ports, clock: counting, statusSink: pods.statusSink },
    sources: [pods],
  });
  const stop = new AbortController();
  const ended = agent.run(stop.signal);
  return { agent, clock, stop, ended, openTimers: () => counting.open.size };
}

// A process with an open timer does not end by itself.
describe("an agent that was stopped leaves no timer behind", () => {
  it.each([...startUp, 7_000, 61_000, 3_600_000])("%d ms after its start", async (atMs) => {
    const { clock, stop, ended, openTimers } = startAgent();
    await clock.advance(atMs);
    expect(openTimers()).toBeGreaterThan(0);
    stop.abort();
    await clock.drive(ended);
    expect(openTimers()).toBe(0);
  });

  it.each([1, 2, 3, 5, 8, 13])("at change %d of a pod, from inside of the agent's own work", async (change) => {
    const { agent, clock, stop, ended, openTimers } = startAgent();
    let changes = 0;
    agent.onPodChange(() => {
      changes += 1;
      if (changes === change) stop.abort();
    });
    await clock.drive(ended);
    expect(openTimers()).toBe(0);
  });
});
