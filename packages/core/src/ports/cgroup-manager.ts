import type { CallOptions } from "./runtime-service.ts";

/** Limits of one cgroup in the kubelet's terms; absent means that the value is left alone. */
export interface CgroupResources {
  readonly cpuShares?: bigint;
  /** Microseconds per period; -1n lifts the limit. */
  readonly cpuQuota?: bigint;
  readonly cpuPeriod?: bigint;
  readonly memoryLimitBytes?: bigint;
  readonly pidsLimit?: bigint;
}

/** A cgroup by its path of parts under the cgroup root, for example `["kubepods", "burstable", "pod<uid>"]`. Parts hold no `/` and no `_`. */
export type CgroupName = readonly string[];

/**
 * Pod and QoS cgroups. Containers' own cgroups are the runtime's. Names are parts; the implementation turns them into a cgroupfs path or a
 * systemd slice.
 */
export interface CgroupManager {
  /** The parent that the runtime is told (CRI cgroup_parent) for a cgroup. Pure. */
  parentFor(name: CgroupName): string;
  /** Makes the cgroup with its ancestors and writes the limits that differ. Idempotent. */
  ensure(request: { readonly name: CgroupName; readonly resources: CgroupResources } & CallOptions): Promise<void>;
  /** Kills what is left in it and removes it with its children. Idempotent. */
  destroy(request: { readonly name: CgroupName } & CallOptions): Promise<void>;
  exists(request: { readonly name: CgroupName } & CallOptions): Promise<boolean>;
  /** Names of the direct children. */
  children(request: { readonly name: CgroupName } & CallOptions): Promise<readonly string[]>;
}
