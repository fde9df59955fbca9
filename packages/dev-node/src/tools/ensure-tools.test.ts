import { describe, expect, it } from "vitest";
import { isOfFamily } from "./ensure-tools.ts";

describe("isOfFamily", () => {
  it.each([
    { version: "1.6.20~ds1", family: "1.6", expected: true },
    { version: "1.7.24", family: "1.6", expected: false },
    { version: "2.1.9+unknown", family: "2.1", expected: true },
    { version: "2.10.0", family: "2.1", expected: true },
    { version: "2.0.5", family: "2.1", expected: false },
    { version: "1.6.20", family: "2.1", expected: false },
    { version: "nonsense", family: "2.1", expected: false },
  ] as const)("$version in $family: $expected", ({ version, family, expected }) => {
    expect(isOfFamily(version, family)).toBe(expected);
  });
});
