/**
 * Contract suites for the ports of @nodelet/core: what each port promises, as vitest tests that any implementation can run. They need vitest,
 * which is an optional peer of this package.
 */
export { type CgroupManagerFixture, describeCgroupManagerContract } from "./cgroup-manager-contract.ts";
export { type ClockFixture, describeClockContract } from "./clock-contract.ts";
export { type ContainerLogsFixture, describeContainerLogsContract } from "./container-logs-contract.ts";
export type { ContractFixture, ContractOptions, ContractTest, Deviations } from "./contract.ts";
export {
  type DirectoryWatchFixture,
  describeDirectoryWatchContract,
  type WatchedPlace,
} from "./directory-watch-contract.ts";
export { describeHostNetworkFilesContract, type HostNetworkFilesFixture } from "./host-network-files-contract.ts";
export { describeHttpFetchContract, type HttpFetchFixture } from "./http-fetch-contract.ts";
export { describeImageServiceContract } from "./image-service-contract.ts";
export { describeLoggerContract, type LoggerFixture } from "./logger-contract.ts";
export { describeMachineContract, type MachineFixture } from "./machine-contract.ts";
export { describeObjectSourceContract, type ObjectSourceFixture } from "./object-source-contract.ts";
export { describePodFilesContract, type PodFilesFixture } from "./pod-files-contract.ts";
export { describePodSourceContract, type PodSourceFixture, type RunningWorld } from "./pod-source-contract.ts";
export { describePodStatusSinkContract, type PodStatusSinkFixture } from "./pod-status-sink-contract.ts";
export { describeRandomContract, type RandomFixture } from "./random-contract.ts";
export type { ContractCommands, RuntimeFixture } from "./runtime-fixture.ts";
export { describeRuntimeServiceContract } from "./runtime-service-contract.ts";
export { describeStateStoreContract, type StateStoreFixture } from "./state-store-contract.ts";
