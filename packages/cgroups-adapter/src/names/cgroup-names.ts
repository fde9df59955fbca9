import { type CgroupName, NodeletError } from "@nodelet/core";
import { isPlainName } from "@nodelet/lib-safe-fs";

/**
 * Throws `invalid` unless every part is a plain name without `_`: systemd's escaping turns `-` into `_`, so a part with `_` could not be told
 * from another one.
 */
function assertCgroupName(name: CgroupName): void {
  for (const part of name) {
    if (!isPlainName(part) || part.includes("_")) {
      throw new NodeletError(
        "invalid",
        `cgroup name part ${JSON.stringify(part.slice(0, 100))}: may hold neither "/" nor "_"`,
      );
    }
  }
}

/** `["kubepods", "burstable", "pod1"]` → `/kubepods/burstable/pod1`; the root is `/`. */
export function cgroupfsPath(name: CgroupName): string {
  assertCgroupName(name);
  return `/${name.join("/")}`;
}

/**
 * The path of a cgroup under the systemd driver: parts are joined by `-`, a `-` inside a part becomes `_`, and systemd nests slices by their
 * dashes: `["kubepods", "burstable", "pod-1"]` → `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod_1.slice`.
 */
export function systemdSliceName(name: CgroupName): string {
  assertCgroupName(name);
  const escaped = name.map((part) => part.replaceAll("-", "_"));
  const slices = escaped.map((_, index) => `${escaped.slice(0, index + 1).join("-")}.slice`);
  return `/${slices.join("/")}`;
}
