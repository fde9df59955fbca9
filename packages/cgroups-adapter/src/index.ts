/** Cgroup management and statistics for @nodelet/core. */
export { type CgroupCapabilities, CgroupfsManager } from "./cgroupfs/cgroupfs-manager.ts";
export type { CgroupHierarchy, CgroupLayout } from "./layout/hierarchies.ts";
export { systemdSliceName } from "./names/cgroup-names.ts";
