import { findContainer } from "../../api/index.ts";
import { runGraph } from "../../async/graph.ts";
import type { PlanStep, WaitingContainer } from "../pod-plan.ts";
import { Execution, type ExecutionRequest, type ExecutorParts } from "./execution.ts";
import { killContainer, removeContainer } from "./kill-steps.ts";
import { runSandbox, stopSandbox } from "./sandbox-steps.ts";
import { createContainer, ensureImage, startContainer } from "./start-steps.ts";

/** What came of a plan. */
export interface ExecutionResult {
  /** Some call was made to the runtime: its state is to be looked at. */
  readonly acted: boolean;
  /** Some step failed. */
  readonly failed: boolean;
  /** An image is still being pulled: the plan goes on in the next turn. */
  readonly left: boolean;
  /** When the first thing that waits may be tried again. */
  readonly retryInMs: number | undefined;
}

/** Carries plans out: each step as soon as its edges allow, each with its own deadline, each with one outcome. Knows no policy. */
export class PlanExecutor {
  readonly #parts: ExecutorParts;

  constructor(parts: ExecutorParts) {
    this.#parts = parts;
  }

  /** Never rejects for a failed step; what failed is told as decisions and start errors. */
  async execute(request: ExecutionRequest): Promise<ExecutionResult> {
    const { plan } = request;
    const execution = new Execution(this.#parts, request);
    for (const waiting of plan.waiting) tellWaiting(execution, waiting);
    await runGraph(plan.steps, (step) => attempt(execution, step));
    await execution.settled();
    execution.patience.close();
    const { acted, failed, left, retryAtMs } = execution;
    const nowMs = this.#parts.ports.clock.nowMs();
    return { acted, failed, left, retryInMs: retryAtMs === undefined ? undefined : Math.max(0, retryAtMs - nowMs) };
  }
}

async function attempt(execution: Execution, step: PlanStep): Promise<boolean> {
  execution.patience.begin();
  try {
    // Once an image was left, the rest is planned anew, in its order.
    return !execution.signal.aborted && !execution.left && (await carryOut(execution, step));
  } catch (error) {
    execution.failed = true;
    if (!execution.signal.aborted) {
      const { namespace, name, uid } = execution.ref;
      execution.parts.ports.logger.error("A step of a pod's plan failed", {
        step: step.id,
        pod: `${namespace}/${name}`,
        podUID: uid,
        err: error,
      });
    }
    return false;
  } finally {
    execution.ended.get(step.id)?.resolve();
    execution.patience.end();
  }
}

function carryOut(execution: Execution, step: PlanStep): Promise<boolean> {
  switch (step.kind) {
    case "killContainer":
      return killContainer(execution, step);
    case "removeContainer":
      return removeContainer(execution, step);
    case "stopSandbox":
      return stopSandbox(execution, step);
    case "runSandbox":
      return runSandbox(execution, step);
    case "ensureImage":
      return ensureImage(execution, step);
    case "createContainer":
      return createContainer(execution, step);
    case "startContainer":
      return startContainer(execution, step);
  }
}

function tellWaiting(execution: Execution, waiting: WaitingContainer): void {
  const { ref, parts } = execution;
  const { containerName, reason, message, untilMs } = waiting;
  const containerKind = findContainer(execution.pod, containerName)?.kind ?? "regular";
  parts.onStartResult(ref.uid, containerName, { reason, message });
  execution.retryAt(untilMs);
  const text = `Back-off restarting failed container ${containerName} in pod ${ref.name}_${ref.namespace}(${ref.uid})`;
  execution.decide(
    {
      action: "backOff",
      reason,
      message,
      outcome: "waiting",
      nextTryMs: untilMs,
      event: { type: "Warning", reason: "BackOff", message: text },
    },
    { containerName, containerKind },
  );
}
