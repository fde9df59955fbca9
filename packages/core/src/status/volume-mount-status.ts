import type { Container, VolumeMount, VolumeMountStatus } from "../api/index.ts";

/** Mounts as a container's status shows them; undefined when there are none. Recursive read-only by KEP-3857. */
export function volumeMountStatuses(
  container: Pick<Container, "volumeMounts">,
  options: { readonly recursiveReadOnlyMounts: boolean },
): VolumeMountStatus[] | undefined {
  if (container.volumeMounts === undefined || container.volumeMounts.length === 0) return undefined;
  return container.volumeMounts.map((mount) => ({
    name: mount.name,
    mountPath: mount.mountPath,
    ...(mount.readOnly === true && {
      readOnly: true,
      recursiveReadOnly: isRecursive(mount, options.recursiveReadOnlyMounts) ? "Enabled" : "Disabled",
    }),
  }));
}

/** `Enabled` where the runtime cannot do it never gets to run; its status says Disabled meanwhile. */
function isRecursive(mount: VolumeMount, supported: boolean): boolean {
  if (mount.recursiveReadOnly !== "Enabled" && mount.recursiveReadOnly !== "IfPossible") return false;
  const propagates = mount.mountPropagation !== undefined && mount.mountPropagation !== "None";
  return supported && !propagates;
}
