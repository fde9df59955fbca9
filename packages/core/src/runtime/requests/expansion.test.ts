import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expandReferences, MAX_EXPANDED_CHARS } from "./expansion.ts";

const VALUES = new Map([
  ["A", "1"],
  ["B", "$(A)"],
  ["EMPTY", ""],
  ["", "nameless"],
  ["a(b", "odd"],
]);
const expand = (text: string): string => expandReferences(text, (name) => VALUES.get(name));

describe("references", () => {
  test.each([
    ["none", "none"],
    ["$(A)", "1"],
    ["x$(A)y$(A)z", "x1y1z"],
    ["$(EMPTY)", ""],
    ["$(B)", "$(A)"],
    ["$(MISSING)", "$(MISSING)"],
    ["$$(A)", "$(A)"],
    ["$$$(A)", "$1"],
    ["$$$$(A)", "$$(A)"],
    ["$", "$"],
    ["a$", "a$"],
    ["$A", "$A"],
    ["$x$(A)", "$x1"],
    ["$(A", "$(A"],
    ["$(A $(A)", "$(A $(A)"],
    ["$()", "nameless"],
    ["$(a(b)", "odd"],
    ["kill -9 $$", "kill -9 $"],
    ["$(A))", "1)"],
    ["grüße $(A) 世界", "grüße 1 世界"],
  ])("%s", (text, expected) => {
    expect(expand(text)).toBe(expected);
  });
});

test("text without a dollar stays as it is", () => {
  fc.assert(fc.property(fc.string(), (text) => expand(text.replaceAll("$", "")) === text.replaceAll("$", "")));
});

test("doubling every dollar gives the text back", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("$", "(", ")", "A", " ") }),
      (text) => expand(text.replaceAll("$", "$$$$")) === text,
    ),
  );
});

test("many openers without an end cost linear time", () => {
  const text = "$(".repeat(400_000);
  expect(expand(text)).toBe(text);
});

test("a text that would grow beyond 1 MiB is refused", () => {
  const half = "x".repeat(MAX_EXPANDED_CHARS / 2);
  expect(expandReferences("$(H)$(H)", () => half)).toHaveLength(MAX_EXPANDED_CHARS);
  expect(() => expandReferences("$(H)$(H)y", () => half)).toThrow("more than 1048576 characters");
});
