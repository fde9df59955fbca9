import type { Container, EphemeralContainer, Volume, VolumeMount } from "../../api/index.ts";
import type { Place } from "./env.ts";
import { descendingPath } from "./formats.ts";

type Mounting = Pick<Container | EphemeralContainer, "volumeMounts" | "volumeDevices" | "securityContext">;

interface MountPlace extends Place {
  readonly volumes: readonly Volume[];
}

/** Mounts name a volume of the pod and a path of their own. */
export function validateVolumeMounts(container: Mounting, place: MountPlace): void {
  const { path, problems, volumes } = place;
  const devices = container.volumeDevices ?? [];
  const paths = new Set<string>();
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const own = `${path}[${index}]`;
    if (!mount.name) problems.required({ path: `${own}.name` });
    const volume = volumes.find((candidate) => candidate.name === mount.name);
    if (volume === undefined) problems.notFound({ path: `${own}.name`, value: mount.name });
    if (!mount.mountPath) problems.required({ path: `${own}.mountPath` });
    if (paths.has(mount.mountPath))
      problems.invalid({ path: `${own}.mountPath`, value: mount.mountPath, detail: "must be unique" });
    paths.add(mount.mountPath);
    if (devices.some((device) => device.name === mount.name)) {
      problems.invalid({ path: `${own}.name`, value: mount.name, detail: "must not already exist in volumeDevices" });
    }
    if (devices.some((device) => device.devicePath === mount.mountPath)) {
      problems.invalid({
        path: `${own}.mountPath`,
        value: mount.mountPath,
        detail: "must not already exist as a path in volumeDevices",
      });
    }
    validateSubPaths(mount, { path: own, problems, isImage: volume?.image !== undefined });
    validatePropagation(mount, { path: own, problems, isPrivileged: container.securityContext?.privileged === true });
  }
}

function validateSubPaths(mount: VolumeMount, place: Place & { readonly isImage: boolean }): void {
  const { path, problems } = place;
  for (const field of ["subPath", "subPathExpr"] as const) {
    const value = mount[field];
    if (!value) continue;
    if (place.isImage)
      problems.invalid({ path: `${path}.${field}`, value, detail: "not allowed in image volume sources" });
    problems.invalidAll({ path: `${path}.${field}`, value, details: descendingPath(value) });
  }
  if (mount.subPath && mount.subPathExpr) {
    problems.invalid({
      path: `${path}.subPathExpr`,
      value: mount.subPathExpr,
      detail: "subPathExpr and subPath are mutually exclusive",
    });
  }
}

function validatePropagation(mount: VolumeMount, place: Place & { readonly isPrivileged: boolean }): void {
  const { path, problems } = place;
  const mode = mount.mountPropagation;
  const modes = ["Bidirectional", "HostToContainer", "None"];
  if (mode !== undefined && !modes.includes(mode)) {
    problems.unsupported({ path: `${path}.mountPropagation`, value: mode, supported: modes });
  }
  if (mode === "Bidirectional" && !place.isPrivileged) {
    problems.forbidden({
      path: `${path}.mountPropagation`,
      detail: "Bidirectional mount propagation is available only to privileged containers",
    });
  }
  validateRecursiveReadOnly(mount, place);
}

/** KEP-3857. */
function validateRecursiveReadOnly(mount: VolumeMount, { path, problems }: Place): void {
  const mode = mount.recursiveReadOnly;
  if (mode === undefined || mode === "Disabled") return;
  const own = `${path}.recursiveReadOnly`;
  if (mode !== "Enabled" && mode !== "IfPossible") {
    problems.unsupported({ path: own, value: mode, supported: ["Disabled", "IfPossible", "Enabled"] });
    return;
  }
  if (mount.readOnly !== true) problems.forbidden({ path: own, detail: "may only be specified when readOnly is true" });
  if (mount.mountPropagation !== undefined && mount.mountPropagation !== "None") {
    problems.forbidden({ path: own, detail: "may only be specified when mountPropagation is None or not specified" });
  }
}

/** Block devices name a claim of the pod and a path of their own. */
export function validateVolumeDevices(container: Mounting, place: MountPlace): void {
  const { path, problems, volumes } = place;
  const mounts = container.volumeMounts ?? [];
  const names = new Set<string>();
  const paths = new Set<string>();
  for (const [index, device] of (container.volumeDevices ?? []).entries()) {
    const own = `${path}[${index}]`;
    const volume = volumes.find((candidate) => candidate.name === device.name);
    if (!device.name) problems.required({ path: `${own}.name` });
    if (names.has(device.name)) problems.invalid({ path: `${own}.name`, value: device.name, detail: "must be unique" });
    if (volume === undefined) problems.notFound({ path: `${own}.name`, value: device.name });
    else if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) {
      const detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
      problems.invalid({ path: `${own}.name`, value: device.name, detail });
    }
    if (!device.devicePath) problems.required({ path: `${own}.devicePath` });
    else if (device.devicePath.split("/").includes("..")) {
      problems.invalid({
        path: `${own}.devicePath`,
        value: device.devicePath,
        detail: "can not contain backsteps ('..')",
      });
    }
    if (paths.has(device.devicePath))
      problems.invalid({ path: `${own}.devicePath`, value: device.devicePath, detail: "must be unique" });
    if (mounts.some((mount) => mount.name === device.name)) {
      problems.invalid({ path: `${own}.name`, value: device.name, detail: "must not already exist in volumeMounts" });
    }
    names.add(device.name);
    paths.add(device.devicePath);
  }
}
