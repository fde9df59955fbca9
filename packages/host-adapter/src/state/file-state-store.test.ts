import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { scratchFolders } from "../scratch.test-support.ts";
import { FileStateStore } from "./file-state-store.ts";

const scratch = scratchFolders();
let directory: string;
let store: FileStateStore;

beforeEach(() => {
  directory = scratch();
  store = new FileStateStore({ directory, clock: { nowMs: () => Date.UTC(2026, 0, 2, 3, 4, 5, 678) } });
});

const file = (name = "s") => join(directory, name);
const hash = (text: string) => createHash("sha256").update(text).digest("hex");
const content = (payload: string, header: object = {}) =>
  `${JSON.stringify({ format: "nodelet-state", version: 1, sha256: hash(payload), ...header })}\n${payload}\n`;

/** -0 is 0 in JSON, and integers that a double does not hold exactly come back as bigints where 64 bits hold them; nothing else changes. */
function asRead(value: unknown): unknown {
  if (typeof value === "number") {
    if (!Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= 1e21) return value + 0;
    const digits = BigInt(String(value));
    return digits >= -(2n ** 63n) && digits < 2n ** 64n ? digits : value;
  }
  if (Array.isArray(value)) return value.map(asRead);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, asRead(entry)]));
}

describe("FileStateStore", () => {
  it("reads what it wrote; absent is an answer", async () => {
    expect(await store.read({ name: "s" })).toEqual({ kind: "absent" });
    await store.write({ name: "s", value: { a: [1, "é"] } });
    expect(await store.read({ name: "s" })).toEqual({ kind: "ok", value: { a: [1, "é"] } });
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(readFileSync(file(), "utf8")).toBe(content('{"a":[1,"é"]}'));
  });

  it("keeps any JSON value", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        await store.write({ name: "s", value });
        expect(await store.read({ name: "s" })).toEqual({ kind: "ok", value: asRead(value) });
      }),
      {
        numRuns: 50,
        examples: [[[2 ** 53, -(2 ** 63), 2 ** 64, 1e300, -0]], [JSON.parse(`{"__proto__":1}`) as fc.JsonValue]],
      },
    );
    await store.write({ name: "s", value: { big: 9223372036854775807n } });
    expect(await store.read({ name: "s" })).toEqual({ kind: "ok", value: { big: 9223372036854775807n } });
  });

  it.each([
    ["empty", "", /header/],
    ["no header", "{}", /header/],
    ["another format", content("{}", { format: "other" }), /header/],
    ["a header that is null", "null\n{}", /header/],
    ["a changed byte", content('{"a":1}').replace('{"a":1}', '{"a":2}'), /hash/],
    ["a torn end", content('{"a":1}').slice(0, -4), /hash/],
    ["a later version", content("{}", { version: 2 }), /version 2/],
    ["a hash over no JSON", content("{"), /not JSON/],
    ["NUL bytes", "\0".repeat(100), /header/],
  ])("sets a file aside that has %s", async (_, text, reason) => {
    writeFileSync(file(), text);
    const read = await store.read({ name: "s" });
    const setAside = file("s.damaged-20260102T030405Z");
    expect(read).toEqual({ kind: "damaged", setAside, reason: expect.stringMatching(reason) });
    expect(readFileSync(setAside, "utf8")).toBe(text);
    expect(await store.read({ name: "s" })).toEqual({ kind: "absent" });
  });

  it("keeps each damaged file, also of one second", async () => {
    for (const text of ["one", "two", "three"]) {
      writeFileSync(file(), text);
      await store.read({ name: "s" });
    }
    const names = ["s.damaged-20260102T030405Z", "s.damaged-20260102T030405Z-2", "s.damaged-20260102T030405Z-3"];
    expect(readdirSync(directory).sort()).toEqual(names);
    expect(readFileSync(file("s.damaged-20260102T030405Z-2"), "utf8")).toBe("two");
  });

  it("sets aside what is no regular file", async () => {
    symlinkSync("/etc/passwd", file("link"));
    mkdirSync(file("dir"));
    for (const name of ["link", "dir"]) {
      expect(await store.read({ name })).toMatchObject({
        kind: "damaged",
        setAside: file(`${name}.damaged-20260102T030405Z`),
      });
      await store.write({ name, value: 1 });
      expect(await store.read({ name })).toEqual({ kind: "ok", value: 1 });
    }
    expect(readFileSync("/etc/passwd", "utf8")).toContain("root");
  });

  it("writes in the order of the calls, with the value as it was then", async () => {
    const value = { n: 0 };
    const writes = Array.from({ length: 20 }, (_, index) => {
      value.n = index;
      return store.write({ name: "s", value });
    });
    value.n = -1;
    await Promise.all(writes);
    expect(await store.read({ name: "s" })).toEqual({ kind: "ok", value: { n: 19 } });
  });

  it("takes away what a crash left, and nothing else", async () => {
    writeFileSync(file(".nodelet-tmp-0123456789abcdef"), "half");
    writeFileSync(file("other"), "");
    await store.write({ name: "s", value: 1 });
    expect(readdirSync(directory).sort()).toEqual(["other", "s"]);
  });

  it.each(["../s", "a/b", "", "..", "a\0"])("refuses the name %j", async (name) => {
    await expect(store.write({ name, value: 1 })).rejects.toMatchObject({ kind: "invalid" });
    await expect(store.read({ name })).rejects.toMatchObject({ kind: "invalid" });
  });

  it("tells a directory that is gone from a file that is absent", async () => {
    const gone = new FileStateStore({ directory: file("gone"), clock: { nowMs: () => 0 } });
    await expect(gone.write({ name: "s", value: 1 })).rejects.toMatchObject({ kind: "notFound" });
  });
});
