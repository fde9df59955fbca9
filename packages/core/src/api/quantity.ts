import { NodeletError } from "../errors/index.ts";

/** Which family of suffixes an amount was written with and is written with again. */
export type QuantityFormat = "decimalSI" | "binarySI" | "decimalExponent";

const NANO = 1_000_000_000n;
/** No longer text is a quantity anyone means; it bounds the work that text from outside can cause. */
const MAX_LENGTH = 256;
const MAX_EXPONENT = 1000;
/** Upstream holds binary quantities to int64. */
const MAX_BINARY = (2n ** 63n - 1n) * NANO;

const SYNTAX = /^([+-]?)(\d*)(?:\.(\d*))?(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?\d+)?$/;
const BINARY: Readonly<Record<string, bigint>> = {
  Ki: 2n ** 10n,
  Mi: 2n ** 20n,
  Gi: 2n ** 30n,
  Ti: 2n ** 40n,
  Pi: 2n ** 50n,
  Ei: 2n ** 60n,
};
const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const DECIMAL_SUFFIXES = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const BINARY_SUFFIXES = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/** Nearly all quantities look like this: one multiplication, and too small for the cap on binary ones. */
const COMMON = /^(\d{1,9})(m|Ki|Mi|Gi)?$/;
const COMMON_NANOS: Readonly<Record<string, { nanos: bigint; format: QuantityFormat }>> = {
  "": { nanos: NANO, format: "decimalSI" },
  m: { nanos: 1_000_000n, format: "decimalSI" },
  Ki: { nanos: 2n ** 10n * NANO, format: "binarySI" },
  Mi: { nanos: 2n ** 20n * NANO, format: "binarySI" },
  Gi: { nanos: 2n ** 30n * NANO, format: "binarySI" },
};

/**
 * An exact, immutable Kubernetes quantity (k8s.io/apimachinery resource.Quantity). Held in whole nanos, the finest step
 * that Kubernetes knows; finer input is rounded away from zero, so that something asked for is never nothing.
 */
export class Amount {
  static readonly zero: Amount = new Amount(0n, "decimalSI");

  /** The value times 10^9. */
  readonly nanos: bigint;
  readonly format: QuantityFormat;
  #text: string | undefined;

  private constructor(nanos: bigint, format: QuantityFormat) {
    this.nanos = nanos;
    this.format = format;
  }

  /**
   * Parses `<sign><digits>.<digits><suffix>`; a number is taken by its decimal text. Throws `invalid` with upstream's
   * message for malformed text, and for exponents beyond ±1000 or text beyond 256 characters.
   */
  static parse(input: string | number | bigint): Amount {
    const text = String(input);
    const common = COMMON.exec(text);
    if (common !== null) {
      const multiplier = COMMON_NANOS[common[2] ?? ""];
      if (multiplier !== undefined) return new Amount(BigInt(Number(common[1])) * multiplier.nanos, multiplier.format);
    }
    const match = text.length <= MAX_LENGTH ? SYNTAX.exec(text) : null;
    const [, sign, whole = "", fraction = "", suffix = ""] = match ?? [];
    if (match === null || (whole === "" && fraction === "")) {
      throw malformed(text);
    }
    const digits = BigInt(whole + fraction);
    const signed = sign === "-" ? -digits : digits;
    const multiplier = BINARY[suffix];
    if (multiplier !== undefined) {
      return binaryAmount(signed * multiplier, fraction.length);
    }
    const letter = DECIMAL[suffix];
    const exponent = suffix === "" ? 0 : (letter ?? Number(suffix.slice(1)));
    if (Math.abs(exponent) > MAX_EXPONENT) {
      throw new NodeletError("invalid", `quantity ${text}: the exponent is beyond ±${MAX_EXPONENT}`);
    }
    const format = suffix === "" || letter !== undefined ? "decimalSI" : "decimalExponent";
    return new Amount(scale(signed, exponent - fraction.length + 9), format);
  }

  /** `value` units of 10^`exponent`; exponent -3 for milli. Finer than nano is rounded away from zero. */
  static of(value: bigint | number, options: { exponent?: number; format?: QuantityFormat } = {}): Amount {
    return new Amount(scale(BigInt(value), (options.exponent ?? 0) + 9), options.format ?? "decimalSI");
  }

  /** An amount of nanos. */
  static ofNanos(nanos: bigint, format: QuantityFormat = "decimalSI"): Amount {
    return new Amount(nanos, format);
  }

  get isZero(): boolean {
    return this.nanos === 0n;
  }

  /** -1, 0 or 1. */
  get sign(): number {
    return this.nanos === 0n ? 0 : this.nanos < 0n ? -1 : 1;
  }

  /** The sum; in this amount's format, or in the other's when this is zero. */
  plus(other: Amount): Amount {
    return new Amount(this.nanos + other.nanos, this.isZero ? other.format : this.format);
  }

  /** The difference; in this amount's format, or in the other's when this is zero. */
  minus(other: Amount): Amount {
    return new Amount(this.nanos - other.nanos, this.isZero ? other.format : this.format);
  }

  /** Negative, zero or positive as this is less than, equal to or more than `other`. */
  compare(other: Amount): number {
    return this.nanos === other.nanos ? 0 : this.nanos < other.nanos ? -1 : 1;
  }

  /** The greater one; this when they are equal. */
  max(other: Amount): Amount {
    return other.nanos > this.nanos ? other : this;
  }

  /** Whole units, rounded away from zero. */
  value(): bigint {
    return divideAway(this.nanos, NANO);
  }

  /** Whole thousandths, rounded away from zero. */
  milliValue(): bigint {
    return divideAway(this.nanos, 1_000_000n);
  }

  /** The nearest double, for metrics and percentages; never for arithmetic that decides. */
  toApproximateNumber(): number {
    return Number(this.nanos) / 1e9;
  }

  /** Canonical text: no fraction, the largest suffix that loses nothing. */
  toString(): string {
    this.#text ??= canonicalText(this);
    return this.#text;
  }

  /** As `toString`, so that JSON holds the canonical text. */
  toJSON(): string {
    return this.toString();
  }
}

/** Canonical text of a quantity as it came from outside. Throws `invalid` as `Amount.parse` does. */
export function canonicalQuantity(input: string | number | bigint): string {
  return Amount.parse(input).toString();
}

function binaryAmount(digits: bigint, fractionDigits: number): Amount {
  const nanos = scale(digits, 9 - fractionDigits);
  const held = nanos > MAX_BINARY ? MAX_BINARY : nanos < -MAX_BINARY ? -MAX_BINARY : nanos;
  const lessThanOne = held !== 0n && held > -NANO && held < NANO;
  return Amount.ofNanos(held, lessThanOne ? "decimalSI" : "binarySI");
}

/** `value` times 10^`exponent`, rounded away from zero. */
function scale(value: bigint, exponent: number): bigint {
  return exponent >= 0 ? value * 10n ** BigInt(exponent) : divideAway(value, 10n ** BigInt(-exponent));
}

function divideAway(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  if (quotient * divisor === value) return quotient;
  return value < 0n ? quotient - 1n : quotient + 1n;
}

function canonicalText(amount: Amount): string {
  const { nanos, format } = amount;
  if (nanos === 0n) return "0";
  const kibi = 1024n * NANO;
  if (format === "binarySI" && nanos % NANO === 0n && (nanos <= -kibi || nanos >= kibi)) {
    let value = nanos / NANO;
    let steps = 0;
    while (steps < BINARY_SUFFIXES.length - 1 && value % 1024n === 0n) {
      value /= 1024n;
      steps += 1;
    }
    return `${value}${BINARY_SUFFIXES[steps]}`;
  }
  let mantissa = nanos;
  let exponent = -9;
  while (mantissa % 1000n === 0n) {
    mantissa /= 1000n;
    exponent += 3;
  }
  const suffix = format === "decimalExponent" ? undefined : DECIMAL_SUFFIXES[(exponent + 9) / 3];
  return `${mantissa}${suffix ?? (exponent === 0 ? "" : `e${exponent}`)}`;
}

function malformed(text: string): NodeletError {
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  return new NodeletError(
    "invalid",
    `quantity ${JSON.stringify(shown)}: quantities must match the regular expression ` +
      "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$', for example 100m, 1.5 or 64Mi",
  );
}
