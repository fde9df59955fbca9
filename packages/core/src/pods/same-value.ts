/**
 * True when two JSON-like values hold the same data: key order and `undefined` members do not matter; 5 and 5n are the same number.
 * Iterative enough for its use: values here come from a decoder that bounds their depth.
 */
export function sameValue(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left === "bigint" || typeof right === "bigint") return sameInteger(left, right);
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right))
    return Array.isArray(left) && Array.isArray(right) && sameList(left, right);
  return sameMembers(left as Record<string, unknown>, right as Record<string, unknown>);
}

/** One of the two is a bigint; a number equals it when it is the same integer. */
function sameInteger(left: unknown, right: unknown): boolean {
  return asInteger(left) !== undefined && asInteger(left) === asInteger(right);
}

function asInteger(value: unknown): bigint | undefined {
  if (typeof value === "bigint") return value;
  return typeof value === "number" && Number.isInteger(value) ? BigInt(value) : undefined;
}

function sameList(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((item, index) => sameValue(item, right[index]));
}

function sameMembers(left: Record<string, unknown>, right: Record<string, unknown>): boolean {
  const leftKeys = Object.keys(left).filter((key) => left[key] !== undefined);
  const rightCount = Object.keys(right).filter((key) => right[key] !== undefined).length;
  return (
    leftKeys.length === rightCount &&
    leftKeys.every((key) => Object.hasOwn(right, key) && sameValue(left[key], right[key]))
  );
}
