import { delay } from "../../async/delay.ts";
import { MINIMUM_GRACE_SECONDS } from "../plan/index.ts";
import type { KillContainerStep, RemoveContainerStep } from "../pod-plan.ts";
import { unlinkLog } from "./container-log-files.ts";
import type { Execution } from "./execution.ts";

/** Stops a container: tells it, waits for those that stop before it, and gives the runtime what is left of the grace. */
export async function killContainer(execution: Execution, step: KillContainerStep): Promise<boolean> {
  const { message, code } = step.reason;
  execution.decide(
    {
      action: "kill",
      reason: "Killing",
      message,
      inputs: { graceSeconds: step.graceSeconds, cause: code },
      outcome: "ok",
      event: { type: "Normal", reason: "Killing", message },
    },
    step,
  );
  const timeoutSeconds = await awaitTurn(execution, step);
  await execution.call({ what: `StopContainer of ${step.containerName}`, extraMs: timeoutSeconds * 1000 }, (signal) =>
    execution.parts.ports.runtime.stopContainer({ containerId: step.containerId, timeoutSeconds, signal }),
  );
  return true;
}

/** Removes a dead container and the link to its log; the log stays. */
export async function removeContainer(execution: Execution, step: RemoveContainerStep): Promise<boolean> {
  const { ref, signal: stop, parts } = execution;
  const container = { id: step.containerId, name: step.containerName };
  await unlinkLog({ ref, container, containerLogs: parts.ports.containerLogs, signal: stop });
  await execution.call({ what: `RemoveContainer of ${step.containerName}` }, (signal) =>
    execution.parts.ports.runtime.removeContainer({ containerId: step.containerId, signal }),
  );
  return true;
}

/** Waits for the stops that come before this one, at most for the grace; answers what is left of the grace, in whole seconds. */
async function awaitTurn(execution: Execution, step: KillContainerStep): Promise<number> {
  const { clock } = execution.parts.ports;
  const before = step.stopAfter.flatMap((id) => execution.ended.get(id)?.promise ?? []);
  if (before.length === 0) return Math.max(step.graceSeconds, MINIMUM_GRACE_SECONDS);
  const beganMs = clock.monotonicMs();
  const over = new AbortController();
  await Promise.race([
    Promise.all(before),
    delay(clock, step.graceSeconds * 1000, AbortSignal.any([execution.signal, over.signal])),
  ]);
  over.abort();
  const waitedSeconds = Math.floor((clock.monotonicMs() - beganMs) / 1000);
  return Math.max(step.graceSeconds - waitedSeconds, MINIMUM_GRACE_SECONDS);
}
