import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseRfc3339, rfc3339, rfc3339Nano } from "./timestamp.ts";

describe("times", () => {
  it.each([
    [0, "1970-01-01T00:00:00Z"],
    [951_782_400_000, "2000-02-29T00:00:00Z"],
    [1_709_164_800_000, "2024-02-29T00:00:00Z"],
    [4_107_542_399_000, "2100-02-28T23:59:59Z"],
    [4_107_542_400_000, "2100-03-01T00:00:00Z"],
    [-1000, "1969-12-31T23:59:59Z"],
  ])("%d ms are %s", (ms, text) => {
    expect(rfc3339(ms)).toBe(text);
    expect(parseRfc3339(text)).toBe(ms);
  });

  it("have as much fraction as they need (Go's RFC3339Nano)", () => {
    expect(rfc3339Nano(1000)).toBe("1970-01-01T00:00:01Z");
    expect(rfc3339Nano(1500)).toBe("1970-01-01T00:00:01.5Z");
    expect(rfc3339Nano(1007)).toBe("1970-01-01T00:00:01.007Z");
  });

  it.each([
    ["2026-11-30T20:28:01+02:00", "2026-11-30T18:28:01Z"],
    ["2026-11-30t20:28:01.25-00:30", "2026-11-30T20:58:01.25Z"],
  ])("%s is %s", (text, utc) => {
    expect(parseRfc3339(text)).toBe(parseRfc3339(utc));
  });

  it.each([
    "",
    "2026-11-30",
    "2026-13-01T00:00:00Z",
    "2026-02-29T00:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T00:00:00",
    "2026-1-1T00:00:00Z",
  ])("%j is no time", (text) => {
    expect(parseRfc3339(text)).toBeUndefined();
  });

  it("agree with the calendar of the platform", () => {
    fc.assert(
      fc.property(fc.integer({ min: -2_000_000_000_000, max: 200_000_000_000_000 }), (ms) => {
        expect(rfc3339Nano(ms)).toBe(new Date(ms).toISOString().replace(/\.?0*Z$/, "Z"));
        expect(parseRfc3339(new Date(ms).toISOString())).toBe(ms);
      }),
    );
  });
});
