/** The Linux machine, as the host ports of @nodelet/core. */
export { HostPodFiles } from "./files/host-pod-files.ts";
export { prepareHostDirectories } from "./files/prepare-directories.ts";
export { type LinuxPorts, type LinuxPortsOptions, linuxPorts } from "./linux-ports.ts";
export { DescriptorOutput, type LogOutput } from "./logging/log-output.ts";
export { StructuredLogger, type StructuredLoggerOptions } from "./logging/structured-logger.ts";
export { HostContainerLogs } from "./logs/host-container-logs.ts";
export { LinuxMachine, type LinuxMachineOptions } from "./machine/linux-machine.ts";
export type { InterfaceAddress } from "./machine/node-ips.ts";
export { HttpFetcher } from "./manifests/http-fetcher.ts";
export { InotifyDirectoryWatch } from "./manifests/inotify-directory-watch.ts";
export { HostNetwork } from "./network/host-network.ts";
export { FileStateStore } from "./state/file-state-store.ts";
export { CryptoRandom } from "./time/crypto-random.ts";
export { SystemClock } from "./time/system-clock.ts";
