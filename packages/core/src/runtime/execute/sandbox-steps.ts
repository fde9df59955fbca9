import { NodeletError } from "../../errors/nodelet-error.ts";
import type { RunSandboxStep, StopSandboxStep } from "../pod-plan.ts";
import type { Execution } from "./execution.ts";

/** Makes the pod's sandbox and learns its addresses. */
export async function runSandbox(execution: Execution, step: RunSandboxStep): Promise<boolean> {
  const { ports } = execution.parts;
  if (step.replaces !== undefined) tellSandboxChanged(execution);
  try {
    const { config, runtimeHandler } = await execution.sandboxRequest();
    execution.prepareContainers();
    // Twice the usual time, as the kubelet gives it: the network plugin is part of it.
    const extraMs = execution.parts.runtimeRequestTimeoutMs;
    const id = await execution.call({ what: "RunPodSandbox", extraMs }, (signal) =>
      ports.runtime.runSandbox({ config, runtimeHandler, signal }),
    );
    const status = await execution.call({ what: "PodSandboxStatus" }, (signal) =>
      ports.runtime.sandboxStatus({ sandboxId: id, signal }),
    );
    execution.parts.onSandbox(execution.ref.uid, status);
    execution.sandbox = { id, ips: status.ips ?? [] };
    return true;
  } catch (error) {
    execution.failed = true;
    if (mayHaveActed(error)) await claimLate(execution);
    // The pod is on its way out: a sandbox that could not be made is no news to anybody.
    if (execution.signal.aborted) return false;
    const message = `Failed to create pod sandbox: ${NodeletError.from(error).message}`;
    const reason = "FailedCreatePodSandBox";
    execution.decide({
      action: "sandbox",
      reason,
      message,
      outcome: "failed",
      event: { type: "Warning", reason, message },
    });
    return false;
  }
}

/** Stops a sandbox; what still runs in it ends with it. */
export async function stopSandbox(execution: Execution, step: StopSandboxStep): Promise<boolean> {
  await execution.call({ what: "StopPodSandbox" }, (signal) =>
    execution.parts.ports.runtime.stopSandbox({ sandboxId: step.sandboxId, signal }),
  );
  return true;
}

/** What could not be kept is told; that the sandbox failed is told all the same. */
async function claimLate({ parts, ref }: Execution): Promise<void> {
  try {
    await parts.onLateSandbox(ref.uid);
  } catch (error) {
    const fields = { pod: `${ref.namespace}/${ref.name}`, podUID: ref.uid, err: error };
    parts.ports.logger.error(
      "A sandbox that may appear late could not be noted; after a restart it counts as foreign",
      fields,
    );
  }
}

/** True unless the runtime said that it did nothing: a call that was given up may still make the sandbox. */
function mayHaveActed(error: unknown): boolean {
  const { kind } = NodeletError.from(error);
  return kind === "unknownOutcome" || kind === "cancelled" || kind === "deadline";
}

function tellSandboxChanged(execution: Execution): void {
  const message = "Pod sandbox changed, it will be killed and re-created.";
  const reason = "SandboxChanged";
  execution.decide({ action: "sandbox", reason, message, outcome: "ok", event: { type: "Normal", reason, message } });
}
