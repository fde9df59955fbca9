/** Contract suites, in-memory adapters, virtual clock and fault decorators for @nodelet/core. */
export { VIRTUAL_EPOCH_MS, VirtualClock, type VirtualClockOptions } from "./clock/virtual-clock.ts";
export { InMemoryImages, type InMemoryImagesOptions } from "./images/in-memory-images.ts";
export { formatReference, type ImageReference, parseReference } from "./images/reference.ts";
export type { ImageDefinition, StoredImage } from "./images/stored-image.ts";
export { type Seed, SeededRandom } from "./random/seeded-random.ts";
export { type ContainerOutput, discardOutput, type LogLine } from "./runtime/container-output.ts";
export { defaultProgram } from "./runtime/default-program.ts";
export type { Hang, HangOptions } from "./runtime/hang.ts";
export { InMemoryRuntime } from "./runtime/in-memory-runtime.ts";
export type { IpPoolOptions } from "./runtime/ip-pool.ts";
export type { ProcessExit, ProcessInfo, ProcessOutput, ProcessPlan, Program } from "./runtime/program.ts";
export type { RecordedCall, RuntimeCall } from "./runtime/runtime-call.ts";
export type { RuntimeChange } from "./runtime/runtime-change.ts";
export type { ContainerView } from "./runtime/runtime-control.ts";
export { containerdLatency, type InMemoryRuntimeOptions, sampledLatency } from "./runtime/runtime-options.ts";
export { shellPlan } from "./runtime/shell-script.ts";
