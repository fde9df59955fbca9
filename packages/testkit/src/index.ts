/** Contract suites, in-memory adapters, virtual clock and fault decorators for @nodelet/core. */
export { VIRTUAL_EPOCH_MS, VirtualClock, type VirtualClockOptions } from "./clock/virtual-clock.ts";
export { type Seed, SeededRandom } from "./random/seeded-random.ts";
