import { type CallOptions, type Machine, type MachineInfo, throwIfAborted } from "@nodelet/core";

const SMALL_NODE: MachineInfo = {
  hostname: "node-1",
  cpuCores: 2,
  memoryBytes: 8_589_934_592n,
  swapBytes: 0n,
  swapAccounting: true,
  cgroupVersion: 2,
  hugepageSizesBytes: [2_097_152n, 1_073_741_824n],
  bootId: "6e4f3d2c-1b0a-4c8d-9e7f-5a6b7c8d9e0f",
  machineId: "0123456789abcdef0123456789abcdef",
  nodeIps: ["192.0.2.10"],
  os: "linux",
  kernelVersion: "6.1.0-13-amd64",
  appArmor: false,
  architecture: "amd64",
};

/** A machine of given facts: 2 cores, 8 GiB and one address unless told otherwise. */
export class FixedMachine implements Machine {
  readonly #info: MachineInfo;

  constructor(info: Partial<MachineInfo> = {}) {
    this.#info = { ...SMALL_NODE, ...info };
  }

  async info(options: CallOptions = {}): Promise<MachineInfo> {
    throwIfAborted(options.signal, "reading the machine's facts");
    return this.#info;
  }
}
