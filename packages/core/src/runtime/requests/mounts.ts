import type { Mount } from "../../ports/runtime-types.ts";
import type { ContainerRequestContext } from "./request-context.ts";

const HOSTS_PATH = "/etc/hosts";

/**
 * Mounts of a container: its volumes, then the managed hosts file unless a volume is mounted there, then its termination log.
 * Files that the agent made are relabelled for the container where SELinux holds.
 */
export function containerMounts(
  context: Pick<ContainerRequestContext, "container" | "node" | "etcHostsPath" | "terminationLogPath" | "volumeMounts">,
): Mount[] {
  const { container, etcHostsPath, terminationLogPath, volumeMounts = [] } = context;
  const relabel = context.node.selinux === true ? { selinuxRelabel: true } : {};
  const covered = volumeMounts.some((mount) => mount.containerPath === HOSTS_PATH);
  const messagePath = container.terminationMessagePath ?? "";
  return [
    ...volumeMounts,
    ...(etcHostsPath === undefined || covered
      ? []
      : [{ containerPath: HOSTS_PATH, hostPath: etcHostsPath, ...relabel }]),
    ...(terminationLogPath === undefined || messagePath === ""
      ? []
      : [{ containerPath: messagePath, hostPath: terminationLogPath, ...relabel }]),
  ];
}
