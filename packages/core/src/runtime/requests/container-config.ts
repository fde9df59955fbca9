import { NodeletError } from "../../errors/index.ts";
import type { ContainerConfig } from "../../ports/runtime-types.ts";
import { containerResources } from "../../resources/index.ts";
import { containerAnnotations } from "./annotations.ts";
import { containerEnv, expandArguments } from "./env.ts";

import { containerMounts } from "./mounts.ts";
import { containerLogPath, LABELS } from "./names.ts";
import { type ContainerRequestContext, resourceRules } from "./request-context.ts";
import { verifyRunAsNonRoot } from "./run-as-non-root.ts";
import { podLabels } from "./sandbox-config.ts";
import { containerSecurityContext, effectiveSecurity } from "./security-context.ts";

/**
 * What CreateContainer is told of a container. Pure. Whatever in the spec, or in what it refers to, does not allow a container comes as a
 * NodeletError with reason CreateContainerConfigError and the kubelet's message; its kind says whether another try may help.
 */
export function buildContainerConfig(context: ContainerRequestContext): ContainerConfig {
  try {
    return containerConfig(context);
  } catch (error) {
    const fault = NodeletError.from(error);
    if (fault.reason !== undefined) throw fault;
    throw new NodeletError(fault.kind, fault.message, { reason: "CreateContainerConfigError", cause: fault });
  }
}

function containerConfig(context: ContainerRequestContext): ContainerConfig {
  const { pod, container, restartCount } = context;
  const env = containerEnv(context);
  const security = effectiveSecurity(pod, container);
  verifyRunAsNonRoot({ pod, containerName: container.name, security, imageUser: context.imageUser });
  const stopSignal =
    context.node.config.featureGates["ContainerStopSignals"] === true ? container.lifecycle?.stopSignal : undefined;
  return {
    metadata: { name: container.name, attempt: restartCount },
    image: { image: context.imageRef, userSpecifiedImage: container.image ?? "" },
    command: expandArguments(container.command, env),
    args: expandArguments(container.args, env),
    workingDir: container.workingDir ?? "",
    envs: env,
    mounts: containerMounts(context),
    labels: { ...podLabels(pod), [LABELS.containerName]: container.name },
    annotations: containerAnnotations({ pod, container, restartCount }),
    logPath: containerLogPath({ containerName: container.name, restartCount }),
    stdin: container.stdin === true,
    stdinOnce: container.stdinOnce === true,
    tty: container.tty === true,
    linux: {
      resources: containerResources({ pod, container, rules: resourceRules(context.node) }),
      securityContext: containerSecurityContext(context),
    },
    ...(stopSignal === undefined ? {} : { stopSignal }),
  };
}
