import type { CgroupManager, CgroupName } from "@nodelet/core";
import { expect } from "vitest";
import { type ContractFixture, type ContractOptions, describeContract } from "./contract.ts";
import { expectFailure, firedSignal } from "./expect-failure.ts";

/** A CgroupManager, and a place where the suite may make cgroups. */
export interface CgroupManagerFixture extends ContractFixture {
  readonly cgroups: CgroupManager;
  /** A cgroup that is the suite's own; it need not exist. */
  readonly parent: CgroupName;
  /** Starts a process in an existing cgroup that ignores every signal but SIGKILL, where that can be done; the answer tells whether it lives. */
  readonly startProcess?: (name: CgroupName) => Promise<() => Promise<boolean>>;
}

/** What every CgroupManager must do, whatever the driver. Limits are the driver's own tests' to look at. */
export function describeCgroupManagerContract(options: ContractOptions<CgroupManagerFixture>): void {
  describeContract("CgroupManager contract", options, (test) => {
    test("a cgroup exists with its ancestors once it was ensured, and may be ensured again", async ({
      cgroups,
      parent,
    }) => {
      const name = [...parent, "besteffort", "podaaa"];
      expect(await cgroups.exists({ name })).toBe(false);
      await cgroups.ensure({ name, resources: { cpuShares: 2n } });
      await cgroups.ensure({ name, resources: { cpuShares: 2n } });
      expect([await cgroups.exists({ name }), await cgroups.exists({ name: name.slice(0, -1) })]).toEqual([true, true]);
    });

    test("children are the direct ones", async ({ cgroups, parent }) => {
      const name = [...parent, "burstable"];
      for (const pod of ["pod1", "pod2"]) await cgroups.ensure({ name: [...name, pod], resources: {} });
      await cgroups.ensure({ name: [...name, "pod1", "inner"], resources: {} });
      expect([...(await cgroups.children({ name }))].sort()).toEqual(["pod1", "pod2"]);
      expect(await cgroups.children({ name: [...name, "pod2"] })).toEqual([]);
    });

    test("children of a cgroup that is not there are none", async ({ cgroups, parent }) => {
      expect(await cgroups.children({ name: [...parent, "never"] })).toEqual([]);
    });

    test("destroying a cgroup removes it with its children, and may be repeated", async ({ cgroups, parent }) => {
      const name = [...parent, "destroyed"];
      await cgroups.ensure({ name: [...name, "pod1", "inner"], resources: { pidsLimit: 100n } });
      await cgroups.destroy({ name });
      await cgroups.destroy({ name });
      expect(await cgroups.exists({ name })).toBe(false);
      expect(await cgroups.exists({ name: [...name, "pod1", "inner"] })).toBe(false);
      expect(await cgroups.children({ name: parent })).not.toContain("destroyed");
    });

    test("destroying a cgroup kills what is left in it, where a process can be put there", async (fixture) => {
      const { cgroups, parent, startProcess } = fixture;
      if (startProcess === undefined) return;
      const name = [...parent, "occupied"];
      await cgroups.ensure({ name, resources: {} });
      const lives = await startProcess(name);
      expect(await lives()).toBe(true);
      await cgroups.destroy({ name });
      expect([await lives(), await cgroups.exists({ name })]).toEqual([false, false]);
    });

    test("parents differ, follow their cgroup's ancestors, and are told without any cgroup being made", async (fixture) => {
      const { cgroups, parent } = fixture;
      const names = [
        [...parent, "pod-a"],
        [...parent, "pod-b"],
        [...parent, "pod", "a"],
      ];
      const parents = names.map((name) => cgroups.parentFor(name));
      expect(new Set(parents).size).toBe(names.length);
      for (const path of parents) expect(path).toMatch(/^\//);
      expect(await cgroups.exists({ name: names[0] ?? [] })).toBe(false);
    });

    test("names that could leave their parent are invalid", async ({ cgroups, parent }) => {
      for (const part of ["", "..", "a/b", "a_b"]) {
        const name = [...parent, part];
        expect(() => cgroups.parentFor(name)).toThrow("cgroup name part");
        await expectFailure(cgroups.ensure({ name, resources: {} }), "invalid");
        await expectFailure(cgroups.destroy({ name }), "invalid");
      }
    });

    test("the root is neither made nor destroyed", async ({ cgroups }) => {
      await expectFailure(cgroups.ensure({ name: [], resources: {} }), "invalid");
      await expectFailure(cgroups.destroy({ name: [] }), "invalid");
    });

    test("a call whose signal has fired does nothing", async ({ cgroups, parent }) => {
      const name = [...parent, "given-up"];
      await expectFailure(cgroups.ensure({ name, resources: {}, signal: firedSignal() }), "cancelled");
      expect(await cgroups.exists({ name })).toBe(false);
    });
  });
}
