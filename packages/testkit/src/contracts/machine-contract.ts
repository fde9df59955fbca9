import type { Machine } from "@nodelet/core";
import { expect } from "vitest";
import { type ContractFixture, type ContractOptions, describeContract } from "./contract.ts";
import { expectFailure, firedSignal } from "./expect-failure.ts";

/** A Machine. */
export interface MachineFixture extends ContractFixture {
  readonly machine: Machine;
}

/** What every Machine must tell. */
export function describeMachineContract(options: ContractOptions<MachineFixture>): void {
  describeContract("Machine contract", options, (test) => {
    test("tells what a node computes with, in whole and plausible numbers", async ({ machine }) => {
      const info = await machine.info();
      expect(info.hostname).toMatch(/^[a-zA-Z0-9][a-zA-Z0-9.-]*$/);
      expect(Number.isInteger(info.cpuCores) && info.cpuCores > 0).toBe(true);
      expect(info.memoryBytes).toBeGreaterThan(16_777_216n);
      expect(info.swapBytes).toBeGreaterThanOrEqual(0n);
      expect([1, 2]).toContain(info.cgroupVersion);
    });

    test("tells hugepage sizes ascending, each once", async ({ machine }) => {
      const { hugepageSizesBytes } = await machine.info();
      const ascending = [...new Set(hugepageSizesBytes)].sort((a, b) => (a < b ? -1 : 1));
      expect(hugepageSizesBytes).toEqual(ascending);
    });

    test("tells addresses as addresses, and identifiers and names that are not empty", async ({ machine }) => {
      const info = await machine.info();
      for (const address of info.nodeIps) expect(address).toMatch(/^(\d+\.\d+\.\d+\.\d+|[0-9a-f:.]*:[0-9a-f:.]*)$/);
      for (const text of [info.bootId, info.machineId, info.os, info.architecture, info.kernelVersion]) {
        expect(text).toMatch(/\S/);
      }
      // Go's names, as node labels and images have them.
      expect(["amd64", "arm64"]).toContain(info.architecture);
    });

    test("tells the same at each call", async ({ machine }) => {
      expect(await machine.info()).toEqual(await machine.info());
    });

    test("a call whose signal has fired is cancelled", async ({ machine }) => {
      await expectFailure(machine.info({ signal: firedSignal() }), "cancelled");
    });
  });
}
