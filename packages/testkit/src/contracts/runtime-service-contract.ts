import { type ContractOptions, type ContractTest, describeContract } from "./contract.ts";
import { defineContainerLifeTests } from "./runtime-containers.ts";
import { defineEventTests } from "./runtime-events.ts";
import type { RuntimeFixture } from "./runtime-fixture.ts";
import { defineInfoTests } from "./runtime-info.ts";
import { defineListTests } from "./runtime-lists.ts";
import { defineSandboxTests } from "./runtime-sandboxes.ts";
import { defineStopTests } from "./runtime-stops.ts";

/**
 * What every RuntimeService must do, whatever runtime is behind it: the port's promises on states, names, exit codes, idempotence,
 * cancellation and events. It makes pods of its own prefix and removes them.
 */
export function describeRuntimeServiceContract(options: ContractOptions<RuntimeFixture>): void {
  describeContract("RuntimeService contract", options, defineRuntimeServiceTests);
}

/** The tests of the contract, added one by one: for those who run them another way. */
export function defineRuntimeServiceTests(test: ContractTest<RuntimeFixture>): void {
  defineInfoTests(test);
  defineSandboxTests(test);
  defineContainerLifeTests(test);
  defineStopTests(test);
  defineListTests(test);
  defineEventTests(test);
}
