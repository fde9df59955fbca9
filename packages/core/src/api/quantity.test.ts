import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Amount, canonicalQuantity } from "./quantity.ts";

describe("canonical text", () => {
  // Worked out from the serialization rules of resource.Quantity: no fraction, largest suffix without loss.
  it.each([
    ["0", "0"],
    ["0Mi", "0"],
    ["-0", "0"],
    ["1.5", "1500m"],
    ["1.5Gi", "1536Mi"],
    ["0.5", "500m"],
    ["1000m", "1"],
    ["1024Mi", "1Gi"],
    ["1000Mi", "1000Mi"],
    ["12345", "12345"],
    ["1000000", "1M"],
    ["1500k", "1500k"],
    ["100m", "100m"],
    ["1m", "1m"],
    ["100u", "100u"],
    ["0.1m", "100u"],
    ["0.5n", "1n"],
    ["-0.5n", "-1n"],
    ["+12Ki", "12Ki"],
    ["1023Ki", "1023Ki"],
    // Less than 1Ki in binary is written in decimal.
    ["0.5Ki", "512"],
    ["0.5Mi", "512Ki"],
    ["1.6Gi", "1717986918400m"],
    ["12e6", "12e6"],
    ["12E6", "12e6"],
    ["1e2", "100"],
    ["1500e-3", "1500e-3"],
    ["1e-9", "1e-9"],
    ["1e-10", "1e-9"],
    ["1e+3", "1e3"],
    ["1E", "1E"],
    ["1Ei", "1Ei"],
    ["8Ei", "9223372036854775807"],
    ["999999999999999Gi", "9223372036854775807"],
    ["999999999Gi", "999999999Gi"],
    ["-9Ei", "-9223372036854775807"],
    ["1000E", "1e21"],
    ["18446744073709551616", "18446744073709551616"],
    [".5", "500m"],
    ["5.", "5"],
    ["007", "7"],
    ["-1.5Gi", "-1536Mi"],
  ])("%s is %s", (text, canonical) => {
    expect(canonicalQuantity(text)).toBe(canonical);
    expect(canonicalQuantity(canonical)).toBe(canonical);
  });

  it.each([
    [1, "1"],
    [0.1, "100m"],
    [1.5, "1500m"],
    [1e21, "1e21"],
    [1e-7, "100e-9"],
    [9007199254740993n, "9007199254740993"],
  ])("a number %s is %s", (value, canonical) => {
    expect(canonicalQuantity(value)).toBe(canonical);
  });

  it.each([
    "",
    " ",
    "1 ",
    "abc",
    "1.2.3",
    "1ki",
    "1KI",
    "1mi",
    "1Mib",
    "Mi",
    ".",
    "+",
    "--1",
    "1e",
    "1e1.5",
    "1Ee3",
    "0x10",
    "1_000",
    "١",
    "NaN",
    "Infinity",
  ])("%j is refused with the expected form", (text) => {
    expect(() => Amount.parse(text)).toThrow(/^quantity .*must match the regular expression/);
  });

  it("bounds what text can cost", () => {
    expect(() => Amount.parse("1e1001")).toThrow("quantity 1e1001: the exponent is beyond ±1000");
    expect(() => Amount.parse("1e-999999999999")).toThrow("the exponent is beyond");
    expect(() => Amount.parse("9".repeat(300))).toThrow("must match");
    expect(Amount.parse("1e1000").compare(Amount.parse("1E"))).toBe(1);
  });
});

describe("integer views round away from zero", () => {
  it.each([
    ["800m", 1n, 800n],
    ["1.6Gi", 1717986919n, 1717986918400n],
    ["1G", 1000000000n, 1000000000000n],
    ["100u", 1n, 1n],
    ["1n", 1n, 1n],
    ["-100u", -1n, -1n],
    ["-1.1", -2n, -1100n],
    ["2.0005", 3n, 2001n],
    ["9223372036854775807", 9223372036854775807n, 9223372036854775807000n],
  ])("%s: %s and %s thousandths", (text, value, milli) => {
    expect(Amount.parse(text).value()).toBe(value);
    expect(Amount.parse(text).milliValue()).toBe(milli);
  });
});

describe("arithmetic", () => {
  it.each([
    ["100m", "900m", "1"],
    ["0", "1Gi", "1Gi"],
    ["1Gi", "1M", "1074741824"],
    ["1M", "1Gi", "1074741824"],
    ["512Mi", "512Mi", "1Gi"],
    ["1", "-1", "0"],
    ["1e3", "1", "1001"],
  ])("%s + %s = %s", (a, b, sum) => {
    expect(Amount.parse(a).plus(Amount.parse(b)).toString()).toBe(sum);
  });

  it("takes the format of the other side only when this is zero", () => {
    expect(Amount.zero.plus(Amount.parse("2Ki")).format).toBe("binarySI");
    expect(Amount.parse("1").plus(Amount.parse("2Ki")).format).toBe("decimalSI");
    expect(Amount.zero.minus(Amount.parse("2Ki")).toString()).toBe("-2Ki");
  });

  it("makes amounts of scaled integers", () => {
    expect(Amount.of(1500, { exponent: -3 }).toString()).toBe("1500m");
    expect(Amount.of(2n ** 30n, { format: "binarySI" }).toString()).toBe("1Gi");
    expect(Amount.of(1, { exponent: -12 }).toString()).toBe("1n");
    expect(JSON.stringify({ cpu: Amount.of(2) })).toBe('{"cpu":"2"}');
  });
});

const quantityText = fc
  .tuple(
    fc.constantFrom("", "-", "+"),
    fc.nat({ max: 999_999_999 }),
    fc.option(fc.nat({ max: 99_999 })),
    fc.constantFrom("", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "e3", "E-6", "e+9"),
  )
  .map(([sign, whole, fraction, suffix]) => `${sign}${whole}${fraction === null ? "" : `.${fraction}`}${suffix}`);
const amount = quantityText.map((text) => Amount.parse(text));

describe("laws", () => {
  it("canonical text keeps the value and is a fixed point", () => {
    fc.assert(
      fc.property(amount, (a) => {
        const again = Amount.parse(a.toString());
        expect(again.compare(a)).toBe(0);
        expect(again.toString()).toBe(a.toString());
      }),
    );
  });

  it("addition is commutative and associative in value, and undone by subtraction", () => {
    fc.assert(
      fc.property(amount, amount, amount, (a, b, c) => {
        expect(a.plus(b).compare(b.plus(a))).toBe(0);
        expect(
          a
            .plus(b)
            .plus(c)
            .compare(a.plus(b.plus(c))),
        ).toBe(0);
        expect(a.plus(b).minus(b).compare(a)).toBe(0);
      }),
    );
  });

  it("order agrees with the sign of the difference, and max is an upper bound", () => {
    fc.assert(
      fc.property(amount, amount, (a, b) => {
        expect(a.compare(b)).toBe(a.minus(b).sign);
        expect(a.max(b).compare(a)).toBeGreaterThanOrEqual(0);
        expect(a.max(b).compare(b)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it("the integer views never shrink an amount, and overshoot by less than one", () => {
    fc.assert(
      fc.property(amount, (a) => {
        const magnitude = a.nanos < 0n ? -a.nanos : a.nanos;
        const whole = a.value() < 0n ? -a.value() : a.value();
        expect(whole * 1_000_000_000n >= magnitude).toBe(true);
        expect(whole * 1_000_000_000n - magnitude < 1_000_000_000n).toBe(true);
      }),
    );
  });
});
