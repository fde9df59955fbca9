import { NodeletError } from "@nodelet/core";

/** Online logical CPUs in /proc/cpuinfo text: what cadvisor and Go's runtime count. Throws `internal` when there are none. */
export function countCpus(cpuinfo: string): number {
  const count = cpuinfo.match(/^processor\s*:/gm)?.length ?? 0;
  if (count === 0) throw new NodeletError("internal", "/proc/cpuinfo lists no processor");
  return count;
}

/** A `Name:   123 kB` row of /proc/meminfo text in bytes. Throws `internal` when the row is missing. */
export function parseKilobytes(meminfo: string, row: "MemTotal" | "SwapTotal"): bigint {
  const kilobytes = new RegExp(`^${row}:\\s+(\\d+) kB$`, "m").exec(meminfo)?.[1];
  if (kilobytes === undefined) throw new NodeletError("internal", `/proc/meminfo has no ${row}`);
  return BigInt(kilobytes) * 1024n;
}

/** Bytes of a directory name below /sys/kernel/mm/hugepages, `hugepages-2048kB`; undefined for another name. */
export function parseHugepageSize(name: string): bigint | undefined {
  const kilobytes = /^hugepages-(\d+)kB$/.exec(name)?.[1];
  return kilobytes === undefined ? undefined : BigInt(kilobytes) * 1024n;
}
