import { Amount, type ResourceAmounts } from "../api/index.ts";
import type { HugepageLimit } from "../ports/runtime-types.ts";

const PREFIX = "hugepages-";
const UNITS = ["B", "KB", "MB", "GB", "TB", "PB"];

/** The name of a huge page size as cgroups and the CRI write it: `2MB`, `1GB`. `sizeBytes` is a power of two. */
export function hugepageSizeName(sizeBytes: bigint): string {
  let value = sizeBytes;
  let unit = 0;
  while (value >= 1024n && value % 1024n === 0n && unit < UNITS.length - 1) {
    value /= 1024n;
    unit += 1;
  }
  return `${value}${UNITS[unit]}`;
}

/** The size in bytes of a `hugepages-<size>` resource, or undefined for every other resource. */
export function hugepageSizeBytes(resourceName: string): bigint | undefined {
  if (!resourceName.startsWith(PREFIX)) return undefined;
  try {
    const size = Amount.parse(resourceName.slice(PREFIX.length)).value();
    return size > 0n ? size : undefined;
  } catch {
    return undefined;
  }
}

/**
 * CRI limits for every page size of the machine, in its order: 0 unless one of `limits` names the size; later maps win, so the
 * container's come after the pod's. Sizes that the machine lacks are left out: the kernel would refuse them.
 */
export function hugepageLimits(options: {
  readonly machineSizesBytes: readonly bigint[];
  readonly limits: readonly ResourceAmounts[];
}): HugepageLimit[] {
  const wanted = new Map<string, bigint>();
  for (const limits of options.limits) {
    for (const [name, amount] of limits) {
      const size = hugepageSizeBytes(name);
      if (size !== undefined) wanted.set(hugepageSizeName(size), amount.value());
    }
  }
  return options.machineSizesBytes.map((size) => {
    const pageSize = hugepageSizeName(size);
    return { pageSize, limit: wanted.get(pageSize) ?? 0n };
  });
}
