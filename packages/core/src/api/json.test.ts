import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJson, stringifyJson } from "./json.ts";
import { findJsonFault } from "./json-fault.ts";

describe("integers", () => {
  it.each([
    ["9007199254740991", 9007199254740991],
    ["9007199254740993", 9007199254740993n],
    ["-9223372036854775808", -9223372036854775808n],
    ["18446744073709551615", 18446744073709551615n],
    // Beyond 64 bits Kubernetes holds a double.
    ["18446744073709551616", 18446744073709552000],
    ["1e3", 1000],
    ["12345678901234567.5", 12345678901234568],
    ["-0", -0],
  ])("%s is read as %s", (text, value) => {
    expect(parseJson(text)).toBe(value);
  });

  it("survive a round trip over all of int64", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
        const text = `{"spec":{"runAsUser":${value}}}`;
        expect(stringifyJson(parseJson(text))).toBe(text);
      }),
    );
  });

  it("are exact wherever they stand", () => {
    const text = '[9007199254740993,9007199254740993, 9007199254740993,\n-9007199254740993,{"a":9007199254740993}]';
    const big = 9007199254740993n;
    expect(parseJson(text)).toEqual([big, big, big, -big, { a: big }]);
    expect(parseJson(" 9007199254740993 ")).toBe(big);
    expect(() => parseJson("[1.5e400]")).toThrow("too large");
  });

  it("leave long digits inside strings alone", () => {
    expect(parseJson('{"uid":"12345678901234567890"}')).toEqual({ uid: "12345678901234567890" });
  });

  it("refuses a number that no double holds", () => {
    expect(() => parseJson('{"a":1e999}', { source: "p.json" })).toThrow("p.json: the number 1e999 is too large");
  });
});

describe("hostile input", () => {
  it("keeps keys such as __proto__ as data", () => {
    const text = '{"__proto__":{"admin":true},"constructor":1,"n":12345678901234567890}';
    const value = parseJson(text) as object;
    expect(Object.keys(value)).toEqual(["__proto__", "constructor", "n"]);
    expect((value as { admin?: boolean }).admin).toBeUndefined();
    expect(stringifyJson(value)).toBe(text);
  });

  it("bounds depth, counting no bracket in a string", () => {
    const nested = (depth: number): string => `${'{"a":['.repeat(depth / 2)}"]]]}}}\\""${"]}".repeat(depth / 2)}`;
    expect(() => parseJson(nested(4), { maxDepth: 3, source: "x" })).toThrow("x:1:12: nested more than 3 levels deep");
    expect(parseJson(nested(4), { maxDepth: 4 })).toEqual({ a: [{ a: [']]]}}}"'] }] });
    expect(() => parseJson("[".repeat(1_000_000))).toThrow("nested more than 200 levels deep");
  });

  it("bounds length", () => {
    expect(() => parseJson('"aaaa"', { maxLength: 5 })).toThrow("too long: 6 characters, at most 5 are accepted");
  });
});

describe("faults", () => {
  it.each([
    ["", "1:1: expected a value, found the end of the text"],
    ["{", "1:2: expected a member name in double quotes, found the end of the text"],
    ['{"a":1,}', '1:8: expected a member name in double quotes, found "}"'],
    ['{\n  "a" 1\n}', '2:7: expected ":", found "1"'],
    ['{\n  "a": 1\n  "b": 2\n}', '3:3: expected "," or "}", found "\\""'],
    ["[1 2]", '1:4: expected "," or "]", found "2"'],
    ["[1,]", '1:4: expected a value, found "]"'],
    ["[01]", '1:3: expected "," or "]", found "1"'],
    ['["a\tb"]', '1:4: expected the rest of a string (control characters and quotes are escaped in it), found "\\t"'],
    ['"a" b', '1:5: expected the end of the text, found "b"'],
    [
      '["a',
      "1:4: expected the rest of a string (control characters and quotes are escaped in it), found the end of the text",
    ],
    ['"\\x"', '1:3: expected the rest of a string (control characters and quotes are escaped in it), found "x"'],
    ["nul", '1:1: expected a value, found "n"'],
    ["{a: 1}", '1:2: expected a member name in double quotes, found "a"'],
  ])("%j: %s", (text, message) => {
    expect(() => parseJson(text, { source: "pod.json" })).toThrow(
      expect.objectContaining({ kind: "invalid", message: `pod.json:${message}` }) as Error,
    );
  });

  it("are found exactly where the engine refuses a text", () => {
    const piece = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"a"',
      '"',
      "1",
      "-",
      "0",
      ".5",
      "e1",
      "true",
      "nul",
      " ",
      "\\",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join("");
        let refused = false;
        try {
          JSON.parse(text);
        } catch {
          refused = true;
        }
        expect(findJsonFault(text) !== undefined).toBe(refused);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("stringifyJson", () => {
  it("escapes as Go's encoder does on request", () => {
    expect(stringifyJson({ a: "<&>\u2028" }, { goEscapes: true })).toBe('{"a":"\\u003c\\u0026\\u003e\\u2028"}');
    expect(stringifyJson({ a: "<&>" })).toBe('{"a":"<&>"}');
  });

  it("refuses what has no JSON form", () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    expect(() => stringifyJson(cycle)).toThrow(/not representable as JSON/);
    expect(() => stringifyJson(undefined)).toThrow(/not representable as JSON/);
  });
});
