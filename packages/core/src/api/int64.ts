import type { Int64 } from "./gen/scalars.ts";

/** The value as a bigint. A double that is no integer is cut towards zero; the decoder lets none through. */
export function int64ToBigInt(value: Int64): bigint {
  return typeof value === "bigint" ? value : BigInt(Math.trunc(value));
}

/**
 * The value as a number, for amounts where anything beyond 2^53 means "for ever" (seconds, counts): held to the
 * integers that a number carries exactly.
 */
export function int64ToNumber(value: Int64): number {
  return Math.min(Math.max(Number(value), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}
