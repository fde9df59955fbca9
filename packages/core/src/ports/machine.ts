import type { CallOptions } from "./runtime-service.ts";

/** Facts of the machine that core computes with. Found once at start. */
export interface MachineInfo {
  readonly hostname: string;
  readonly cpuCores: number;
  readonly memoryBytes: bigint;
  readonly swapBytes: bigint;
  readonly cgroupVersion: 1 | 2;
  /** The kernel limits swap by cgroup (memory.memsw.limit_in_bytes on v1, memory.swap.max on v2). Absent means that it does not. */
  readonly swapAccounting?: boolean;
  /** Sizes in bytes that the kernel offers, ascending, for example 2 MiB and 1 GiB. */
  readonly hugepageSizesBytes: readonly bigint[];
  readonly bootId: string;
  readonly machineId: string;
  /** Node addresses, primary family first. */
  readonly nodeIps: readonly string[];
  /** As in spec.os.name, for example `linux`. */
  readonly os: string;
  /** `uname -r`. */
  readonly kernelVersion: string;
  /** The kernel enforces AppArmor profiles. */
  readonly appArmor: boolean;
  readonly architecture: string;
}

/** Reads the machine. */
export interface Machine {
  info(options?: CallOptions): Promise<MachineInfo>;
}
