import type { StateStore } from "@nodelet/core";
import { expect } from "vitest";
import { type ContractFixture, type ContractOptions, describeContract } from "./contract.ts";
import { expectFailure, firedSignal } from "./expect-failure.ts";

/** A StateStore that is empty at first, and what happens to its files. */
export interface StateStoreFixture extends ContractFixture {
  readonly store: StateStore;
  /** A new store over the same files, as after a restart. */
  readonly reopen: () => StateStore;
  /** Damages the content of a file that was written. */
  readonly damage: (name: string) => Promise<void>;
}

/** What every StateStore must do. */
export function describeStateStoreContract(options: ContractOptions<StateStoreFixture>): void {
  describeContract("StateStore contract", options, (test) => {
    test("what was never written is absent", async ({ store }) => {
      expect(await store.read({ name: "never" })).toEqual({ kind: "absent" });
    });

    test("what was written is read, after a restart too", async ({ store, reopen }) => {
      const value = { pods: { "a/b": [1, "two", null, true], constructor: {} }, text: "ünï\n" };
      await store.write({ name: "kept", value });
      expect(await store.read({ name: "kept" })).toEqual({ kind: "ok", value });
      expect(await reopen().read({ name: "kept" })).toEqual({ kind: "ok", value });
    });

    test("a later value replaces an earlier one, and names keep apart", async ({ store }) => {
      await store.write({ name: "replaced", value: { a: "a long value that the next one does not cover" } });
      await store.write({ name: "replaced", value: [1] });
      await store.write({ name: "replaced-not", value: 2 });
      expect(await store.read({ name: "replaced" })).toEqual({ kind: "ok", value: [1] });
    });

    test("a value that is changed after the call is written as it was", async ({ store }) => {
      const value = { list: [1] };
      const written = store.write({ name: "copied", value });
      value.list.push(2);
      await written;
      expect(await store.read({ name: "copied" })).toEqual({ kind: "ok", value: { list: [1] } });
    });

    test("of writes at once the last one wins, whole", async ({ store }) => {
      const values = [1, 2, 3, 4].map((n) => ({ n, filler: "x".repeat(n * 1_000) }));
      await Promise.all(values.map((value) => store.write({ name: "racing", value })));
      expect(await store.read({ name: "racing" })).toEqual({ kind: "ok", value: values[3] });
    });

    test("a damaged file is set aside once, with the reason, and can be written again", async ({ store, damage }) => {
      await store.write({ name: "hurt", value: { a: 1 } });
      await damage("hurt");
      const read = await store.read({ name: "hurt" });
      expect(read).toEqual({
        kind: "damaged",
        setAside: expect.stringContaining("hurt"),
        reason: expect.stringMatching(/.+/),
      });
      expect(await store.read({ name: "hurt" })).toEqual({ kind: "absent" });
      await store.write({ name: "hurt", value: 2 });
      expect(await store.read({ name: "hurt" })).toEqual({ kind: "ok", value: 2 });
    });

    test("a name is one path segment", async ({ store }) => {
      for (const name of ["..", "a/b", ""]) {
        await expectFailure(store.read({ name }), "invalid");
        await expectFailure(store.write({ name, value: 1 }), "invalid");
      }
    });

    test("a write whose signal has fired does nothing", async ({ store }) => {
      await expectFailure(store.write({ name: "given-up", value: 1, signal: firedSignal() }), "cancelled");
      expect(await store.read({ name: "given-up" })).toEqual({ kind: "absent" });
    });
  });
}
