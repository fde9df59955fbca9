import type { AgentPorts, Clock, Timer } from "@nodelet/core";
import { wrapMethods } from "../faults/wrap-methods.ts";

/** Whether the process that holds the ports still lives. */
export interface Life {
  dead: boolean;
}

/** A promise of a process that was killed: nobody waits for it any more. */
const NEVER: Promise<never> = new Promise(() => undefined);

/**
 * The ports as one process holds them. Once it is dead (kill -9), nothing that it still does reaches the world, no answer reaches it, and its timers
 * never fire; calls that were under way took effect or not, as the world has it.
 */
export function portsOfLife(ports: AgentPorts, life: Life): AgentPorts {
  const entries = Object.entries(ports).map(([name, port]) => [
    name,
    name === "clock" ? clockOfLife(port as Clock, life) : portOfLife(port as object, life),
  ]);
  return Object.fromEntries(entries) as AgentPorts;
}

/** The same for one object whose methods answer with promises, or with nothing. */
export function portOfLife<T extends object>(port: T, life: Life): T {
  return wrapMethods(port, (_name, method) => (...args) => {
    if (life.dead) return NEVER;
    const answer = method(...args);
    return answer instanceof Promise ? whileAlive(answer, life) : answer;
  });
}

function whileAlive(answer: Promise<unknown>, life: Life): Promise<unknown> {
  return answer.then(
    (value) => (life.dead ? NEVER : value),
    (error: unknown) => (life.dead ? NEVER : Promise.reject(error)),
  );
}

function clockOfLife(clock: Clock, life: Life): Clock {
  return {
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    setTimer: (delayMs, callback): Timer =>
      clock.setTimer(delayMs, () => {
        if (!life.dead) callback();
      }),
  };
}
