import { describe, expect, it } from "vitest";
import { resolvePlainScalar } from "./yaml-scalars.ts";

// Expected values are those of Go's yaml.v2 resolver (YAML 1.1 with Go's number syntax), worked out by hand from its rules.
describe("plain scalars of YAML 1.1", () => {
  it.each([
    ["yes", true],
    ["Yes", true],
    ["y", true],
    ["on", true],
    ["TRUE", true],
    ["no", false],
    ["N", false],
    ["Off", false],
    ["false", false],
    ["yES", "yES"],
    ["", null],
    ["~", null],
    ["Null", null],
    ["nUll", "nUll"],
    ["0", 0],
    ["-0", 0],
    ["12", 12],
    ["+12", 12],
    ["0400", 256],
    ["0o400", 256],
    ["-017", -15],
    ["0x1F", 31],
    ["0b101", 5],
    ["1_000", 1000],
    ["08", 8],
    ["1.5", 1.5],
    [".5", 0.5],
    ["5.", 5],
    ["1e3", 1000],
    ["-1.5e-1", -0.15],
    ["1:30", "1:30"],
    ["1.2.3", "1.2.3"],
    ["100m", "100m"],
    ["64Mi", "64Mi"],
    ["-", "-"],
    [".", "."],
    ["...", "..."],
    ["2001-12-14", "2001-12-14"],
    ["2001-12-14T21:59:43Z", "2001-12-14T21:59:43Z"],
    ["9007199254740991", 9007199254740991],
    ["9007199254740993", 9007199254740993n],
    ["-9223372036854775808", -9223372036854775808n],
    ["18446744073709551615", 18446744073709551615n],
    ["0xFFFFFFFFFFFFFFFF", 18446744073709551615n],
    ["__proto__", "__proto__"],
  ])("%s is %s", (text, value) => {
    const resolved = resolvePlainScalar(text);
    expect(resolved === 0 ? 0 : resolved).toBe(value);
  });

  it.each([".inf", "-.INF", "+.Inf", ".nan", ".NaN"])("%s has no JSON form", (text) => {
    expect(resolvePlainScalar(text)).toBeUndefined();
  });

  it("takes an integer beyond 64 bits as a number, as JSON does", () => {
    expect(resolvePlainScalar("100000000000000000000")).toBe(1e20);
  });
});
