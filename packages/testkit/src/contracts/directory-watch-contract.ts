import type { DirectoryHint, DirectoryWatch } from "@nodelet/core";
import { expect } from "vitest";
import { type ContractFixture, type ContractOptions, type ContractTest, describeContract } from "./contract.ts";
import { expectFailure, firedSignal } from "./expect-failure.ts";

/** One place to look at, and the hand that changes it. */
export interface WatchedPlace {
  /** Absolute path of a directory that is empty at first. */
  readonly path: string;
  /** Writes a file of the directory in place. */
  readonly write: (file: { readonly name: string; readonly content: string }) => Promise<void>;
  readonly remove: (name: string) => Promise<void>;
}

/** A DirectoryWatch and places for it. */
export interface DirectoryWatchFixture extends ContractFixture {
  readonly watch: DirectoryWatch;
  readonly makePlace: () => Promise<WatchedPlace>;
  /** Makes a path that is a file with that content. */
  readonly makeFile: (content: string) => Promise<string>;
  readonly absentPath: string;
  /** Looks again and again, letting time pass between, until the condition holds; rejects after about 30 s. */
  readonly waitFor: (condition: () => Promise<boolean>) => Promise<void>;
}

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** What every DirectoryWatch must do. */
export function describeDirectoryWatchContract(options: ContractOptions<DirectoryWatchFixture>): void {
  describeContract("DirectoryWatch contract", options, (test) => {
    defineLookTests(test);
    defineReadTests(test);
    defineWatchTests(test);
  });
}

function defineLookTests(test: ContractTest<DirectoryWatchFixture>): void {
  test("an empty directory and an absent path are answers", async ({ watch, makePlace, absentPath }) => {
    const { path } = await makePlace();
    expect(await watch.look({ path, maxEntries: 10 })).toEqual({ kind: "directory", entries: [] });
    expect(await watch.look({ path: absentPath, maxEntries: 10 })).toEqual({ kind: "absent" });
  });

  test("a look lists everything, hidden files too, with sizes", async ({ watch, makePlace }) => {
    const place = await makePlace();
    await place.write({ name: "a.yaml", content: "one" });
    await place.write({ name: ".hidden", content: "" });
    const look = await watch.look({ path: place.path, maxEntries: 10 });
    const entries = look.kind === "directory" ? look.entries : [];
    const rows = entries.map(({ name, type, sizeBytes }) => `${name} ${type} ${sizeBytes}`);
    expect(new Set(rows)).toEqual(new Set([".hidden file 0", "a.yaml file 3"]));
  });

  test("a changed file differs in its entry, an unchanged one does not", async ({ watch, makePlace }) => {
    const place = await makePlace();
    const look = async () => {
      const seen = await watch.look({ path: place.path, maxEntries: 10 });
      return seen.kind === "directory" ? new Map(seen.entries.map((entry) => [entry.name, entry])) : new Map();
    };
    await place.write({ name: "same", content: "x" });
    await place.write({ name: "changing", content: "one" });
    const before = await look();
    await place.write({ name: "changing", content: "two" });
    const after = await look();
    expect(after.get("same")).toEqual(before.get("same"));
    expect(after.get("changing")).not.toEqual(before.get("changing"));
  });

  test("a path may be a file", async ({ watch, makeFile }) => {
    const path = await makeFile("content");
    const look = await watch.look({ path, maxEntries: 10 });
    const name = path.slice(path.lastIndexOf("/") + 1);
    expect(look).toMatchObject({ kind: "file", entry: { name, type: "file", sizeBytes: 7 } });
    expect(textOf((await watch.read({ path, maxBytes: 100 })).bytes)).toBe("content");
  });

  test("a directory with more entries than were asked for is refused", async ({ watch, makePlace }) => {
    const place = await makePlace();
    for (const name of ["a", "b", "c"]) await place.write({ name, content: "" });
    await expectFailure(watch.look({ path: place.path, maxEntries: 2 }), "resourceExhausted");
  });
}

function defineReadTests(test: ContractTest<DirectoryWatchFixture>): void {
  test("a file is read whole, with the entry that a look shows", async ({ watch, makePlace }) => {
    const place = await makePlace();
    await place.write({ name: "a", content: "ünï\n" });
    const { bytes, entry } = await watch.read({ path: place.path, name: "a", maxBytes: 100 });
    expect(textOf(bytes)).toBe("ünï\n");
    expect(await watch.look({ path: place.path, maxEntries: 10 })).toEqual({ kind: "directory", entries: [entry] });
  });

  test("a file that is gone is notFound, one that is too long refused, a name that leads elsewhere invalid", async (fixture) => {
    const { watch, makePlace } = fixture;
    const place = await makePlace();
    await place.write({ name: "long", content: "0123456789" });
    const read = (name: string, maxBytes: number) => watch.read({ path: place.path, name, maxBytes });
    expect(textOf((await read("long", 10)).bytes)).toBe("0123456789");
    await expectFailure(read("long", 9), "resourceExhausted");
    await place.remove("long");
    await expectFailure(read("long", 10), "notFound");
    await expectFailure(read("../long", 10), "invalid");
  });

  test("a call whose signal has fired is cancelled", async ({ watch, makePlace }) => {
    const { path } = await makePlace();
    await expectFailure(watch.look({ path, maxEntries: 10, signal: firedSignal() }), "cancelled");
    await expectFailure(watch.read({ path, name: "a", maxBytes: 10, signal: firedSignal() }), "cancelled");
  });
}

function defineWatchTests(test: ContractTest<DirectoryWatchFixture>): void {
  test("a watch hints at what is written and removed, until its signal fires", async ({
    watch,
    makePlace,
    waitFor,
  }) => {
    const place = await makePlace();
    await place.write({ name: "old", content: "x" });
    const abort = new AbortController();
    const hints: DirectoryHint[] = [];
    const ended = watch.watch({ path: place.path, onChange: (hint) => hints.push(hint), signal: abort.signal });
    const hinted = async (change: () => Promise<void>) => {
      // The watch may need a while until it sees: the change is made again until then.
      await waitFor(async () => {
        await change();
        return hints.length > 0;
      });
      hints.length = 0;
    };
    let turn = 0;
    await hinted(() => place.write({ name: "new", content: String((turn += 1)) }));
    await hinted(async () => {
      await place.remove("old");
      await place.write({ name: "old", content: "y" });
    });
    abort.abort();
    await ended;
  });

  test("a path that is not there cannot be watched", async ({ watch, absentPath }) => {
    const signal = new AbortController().signal;
    await expectFailure(watch.watch({ path: absentPath, onChange: () => {}, signal }), "notFound");
  });

  test("a watch whose signal has fired resolves at once", async ({ watch, makePlace }) => {
    const { path } = await makePlace();
    await watch.watch({ path, onChange: () => {}, signal: firedSignal() });
  });
}
