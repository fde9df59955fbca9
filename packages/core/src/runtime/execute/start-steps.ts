import type { Container, EphemeralContainer } from "../../api/index.ts";
import { NodeletError } from "../../errors/nodelet-error.ts";
import { PULL_GOES_ON } from "../../images/index.ts";
import type { ContainerConfig, SandboxConfig } from "../../ports/runtime-types.ts";
import type { CreateContainerStep, EnsureImageStep, StartContainerStep } from "../pod-plan.ts";
import { logLinkName } from "../requests/index.ts";
import type { Execution } from "./execution.ts";
import type { SandboxRequest } from "./request-builder.ts";

/** Brings a container's image to the node. */
export async function ensureImage(execution: Execution, step: EnsureImageStep): Promise<boolean> {
  const { images, requests } = execution.parts;
  const { pod, signal, ref } = execution;
  const container = requests.container(pod, step.containerName);
  const sandbox = await sandboxRequest(execution, step);
  if (sandbox === undefined) return false;
  try {
    const { config: sandboxConfig, runtimeHandler } = sandbox;
    const image = await images.ensureImage({
      pod,
      container,
      sandboxConfig,
      runtimeHandler,
      onPresent: (tell) => execution.presentImages.set(step.containerName, tell),
      signal,
      leave: execution.patience.over,
      onWait: () => execution.patience.wait(),
    });
    execution.images.set(step.containerName, image);
    return true;
  } catch (error) {
    const fault = NodeletError.from(error);
    const reason = fault.reason ?? "ErrImagePull";
    if (reason === PULL_GOES_ON) {
      execution.left = true;
      return false;
    }
    execution.startFailed(step, { reason, message: fault.message }, reason);
    const nextMs = images.nextTryMs({ podUid: ref.uid, image: container.image ?? "" });
    if (nextMs !== undefined) execution.retryAt(nextMs);
    return false;
  }
}

/** Makes a container from the image and the sandbox that earlier steps gave. */
export async function createContainer(execution: Execution, step: CreateContainerStep): Promise<boolean> {
  const { ports, onRestart } = execution.parts;
  const { pod, observed } = execution;
  onRestart({ pod, observed, containerName: step.containerName });
  // An image that is there is news only now that there is a sandbox to use it in.
  execution.presentImages.get(step.containerName)?.();
  const request = await buildRequest(execution, step);
  if (request === undefined) return false;
  let containerId: string;
  try {
    containerId = await execution.call({ what: `CreateContainer of ${step.containerName}` }, (signal) =>
      ports.runtime.createContainer({ ...request, signal }),
    );
  } catch (error) {
    execution.startFailed(step, { reason: "CreateContainerError", message: NodeletError.from(error).message });
    return false;
  }
  execution.created.set(step.containerName, { containerId, restartCount: step.restartCount });
  const event = { type: "Normal", reason: "Created", message: "Container created" } as const;
  execution.decide(
    {
      action: "create",
      ...event,
      inputs: { containerID: containerId, restartCount: step.restartCount },
      outcome: "ok",
      event,
    },
    step,
  );
  return true;
}

/** Starts a created container and links its log. */
export async function startContainer(execution: Execution, step: StartContainerStep): Promise<boolean> {
  const { ports, onStartResult } = execution.parts;
  const created = execution.created.get(step.containerName);
  if (created === undefined) throw new Error(`step ${step.id} ran before its container was created`);
  const { containerId } = created;
  try {
    await execution.call({ what: `StartContainer of ${step.containerName}` }, (signal) =>
      ports.runtime.startContainer({ containerId, signal }),
    );
  } catch (error) {
    execution.startFailed(step, { reason: "RunContainerError", message: NodeletError.from(error).message });
    return false;
  }
  onStartResult(execution.ref.uid, step.containerName, undefined);
  const event = { type: "Normal", reason: "Started", message: "Container started" } as const;
  execution.decide({ action: "start", ...event, inputs: { containerID: containerId }, outcome: "ok", event }, step);
  await linkLog(execution, { containerName: step.containerName, ...created });
  return true;
}

/** What the image service is told of the sandbox. When that cannot be built, the step that makes the sandbox tells so, if there is one. */
async function sandboxRequest(execution: Execution, step: EnsureImageStep): Promise<SandboxRequest | undefined> {
  try {
    return await execution.sandboxRequest();
  } catch (error) {
    execution.failed = true;
    const { message } = NodeletError.from(error);
    if (!execution.makesSandbox) execution.startFailed(step, { reason: "ConfigPodSandboxError", message });
    return undefined;
  }
}

async function buildRequest(
  execution: Execution,
  step: CreateContainerStep,
): Promise<{ sandboxId: string; config: ContainerConfig; sandboxConfig: SandboxConfig } | undefined> {
  const { requests } = execution.parts;
  const { pod, sandbox, signal } = execution;
  const image = execution.images.get(step.containerName);
  if (sandbox === undefined || image === undefined) throw new Error(`step ${step.id} ran before its inputs were there`);
  try {
    const sandboxConfig = (await execution.sandboxRequest()).config;
    await execution.containerDirectories(step.containerName);
    const config = await requests.createContainer({
      pod,
      containerName: step.containerName,
      kind: step.containerKind,
      restartCount: step.restartCount,
      sandbox,
      ...image,
      targetContainerId: targetContainerId(execution, requests.container(pod, step.containerName)),
      signal,
    });
    return { sandboxId: sandbox.id, config, sandboxConfig };
  } catch (error) {
    const fault = NodeletError.from(error);
    execution.startFailed(step, { reason: fault.reason ?? "CreateContainerConfigError", message: fault.message });
    return undefined;
  }
}

/** The link helps log collectors; the container runs without it. */
async function linkLog(
  execution: Execution,
  instance: { readonly containerName: string; readonly containerId: string; readonly restartCount: number },
): Promise<void> {
  const { ref, pod, signal, parts } = execution;
  const { containerName, containerId } = instance;
  const linkName = logLinkName({ podName: ref.name, podNamespace: ref.namespace, containerName, containerId });
  try {
    await parts.ports.containerLogs.link({ linkName, logPath: parts.requests.logPath(pod, instance), signal });
  } catch (error) {
    parts.ports.logger.warn("Linking a container's log failed", { link: linkName, reason: String(error) });
  }
}

/** The running instance whose process namespace an ephemeral container asked to join. */
function targetContainerId(execution: Execution, container: Container | EphemeralContainer): string | undefined {
  const target = "targetContainerName" in container ? container.targetContainerName : undefined;
  return execution.observed.containers.find((instance) => instance.name === target && instance.state === "running")?.id;
}
