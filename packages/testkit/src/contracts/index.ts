/**
 * Contract suites for the ports of @nodelet/core: what each port promises, as vitest tests that any implementation can run. They need vitest,
 * which is an optional peer of this package.
 */
export type { ContractFixture, ContractOptions, ContractTest, Deviations } from "./contract.ts";
export { describeImageServiceContract } from "./image-service-contract.ts";
export type { ContractCommands, RuntimeFixture } from "./runtime-fixture.ts";
export { describeRuntimeServiceContract } from "./runtime-service-contract.ts";
