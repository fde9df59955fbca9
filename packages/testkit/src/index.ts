/** Contract suites, in-memory adapters, virtual clock and fault decorators for @nodelet/core. */
export { InMemoryCgroups } from "./cgroups/in-memory-cgroups.ts";
export { VIRTUAL_EPOCH_MS, VirtualClock, type VirtualClockOptions } from "./clock/virtual-clock.ts";
export { drivenBy } from "./faults/driven-by.ts";
export { type Fault, FaultPlan, type FaultPlanOptions, type FaultRecord, type FaultRule } from "./faults/fault-plan.ts";
export { type Recorded, recordCalls } from "./faults/record-calls.ts";
export { withFaults } from "./faults/with-faults.ts";
export { type HostNode, HostTree } from "./files/host-tree.ts";
export { InMemoryContainerLogs, type InMemoryContainerLogsOptions } from "./files/in-memory-container-logs.ts";
export { InMemoryHostFiles } from "./files/in-memory-host-files.ts";
export { InMemoryPodFiles, type InMemoryPodFilesOptions } from "./files/in-memory-pod-files.ts";
export {
  type HttpHandler,
  InMemoryHttpFetch,
  type ServedAnswer,
  type ServedRequest,
} from "./http/in-memory-http-fetch.ts";
export { InMemoryImages, type InMemoryImagesOptions } from "./images/in-memory-images.ts";
export { formatReference, type ImageReference, parseReference } from "./images/reference.ts";
export type { ImageDefinition, StoredImage } from "./images/stored-image.ts";
export { type LogRecord, MemoryLogger, silentLogger } from "./logging/memory-logger.ts";
export { FixedMachine } from "./machine/fixed-machine.ts";
export { InMemoryDirectoryWatch } from "./manifests/in-memory-directory-watch.ts";
export { StaticHostNetworkFiles } from "./network/static-host-network-files.ts";
export { type InMemoryPorts, type InMemoryPortsOptions, inMemoryPorts } from "./node/in-memory-ports.ts";
export { type Life, portsOfLife } from "./node/severed-ports.ts";
export { SimulatedNode, type SimulatedNodeOptions } from "./node/simulated-node.ts";
export { InMemoryObjects, type InMemoryObjectsOptions } from "./objects/in-memory-objects.ts";
export { type Seed, SeededRandom } from "./random/seeded-random.ts";
export { CallJournal } from "./runtime/call-journal.ts";
export { type ContainerOutput, discardOutput, type LogLine } from "./runtime/container-output.ts";
export type { ContainerdRelease } from "./runtime/containerd-profile.ts";
export { defaultProgram } from "./runtime/default-program.ts";
export type { Hang, HangOptions } from "./runtime/hang.ts";
export { InMemoryRuntime } from "./runtime/in-memory-runtime.ts";
export type { IpPoolOptions } from "./runtime/ip-pool.ts";
export type { ProcessExit, ProcessInfo, ProcessOutput, ProcessPlan, Program } from "./runtime/program.ts";
export type { RecordedCall, RuntimeCall } from "./runtime/runtime-call.ts";
export type { RuntimeChange } from "./runtime/runtime-change.ts";
export type { ContainerView } from "./runtime/runtime-control.ts";
export { type InvariantViolation, RuntimeInvariants } from "./runtime/runtime-invariants.ts";
export { containerdLatency, type InMemoryRuntimeOptions, sampledLatency } from "./runtime/runtime-options.ts";
export { shellPlan } from "./runtime/shell-script.ts";
export { RecordingEventSink } from "./sinks/recording-event-sink.ts";
export { RecordingStatusSink, type StatusResponder, type WrittenStatus } from "./sinks/recording-status-sink.ts";
export { InMemoryStateStore } from "./state/in-memory-state-store.ts";
