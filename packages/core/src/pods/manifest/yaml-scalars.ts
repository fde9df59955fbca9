import type { ScalarValue } from "./node.ts";

const WORDS: ReadonlyMap<string, boolean | null> = new Map<string, boolean | null>([
  ...["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"].map((word) => [word, true] as const),
  ...["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"].map((word) => [word, false] as const),
  ...["", "~", "null", "Null", "NULL"].map((word) => [word, null] as const),
]);

const INFINITE = /^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const INTEGER =
  /^(?<sign>[-+]?)(?:0[xX](?<hex>[0-9a-fA-F]+)|0[bB](?<binary>[01]+)|0[oO]?(?<octal>[0-7]+)|(?<decimal>0|[1-9][0-9]*))$/;
const TIMESTAMP = /^\d{4}-\d{1,2}-\d{1,2}(?:[Tt ]\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?(?:Z|[-+]\d{2}:\d{2})?)?$/;
const MIN_INT64 = -(2n ** 63n);
const MAX_UINT64 = 2n ** 64n - 1n;

/**
 * What a plain scalar means in YAML 1.1 as Go's yaml.v2 reads it, which is what Kubernetes reads: `yes`, `off` and `n` are booleans, `0400` and
 * `0o400` are octal, `1_000` is a thousand, timestamps stay text. Infinite and undefined numbers have no JSON form: undefined is answered.
 */
export function resolvePlainScalar(text: string): ScalarValue | undefined {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  if (!/^[-+.0-9]/.test(text)) return text;
  if (INFINITE.test(text)) return undefined;
  if (TIMESTAMP.test(text)) return text;
  const plain = text.startsWith(".") ? text : text.replaceAll("_", "");
  return integer(plain) ?? float(plain) ?? text;
}

/** An integer that fits 64 bits. */
function integer(text: string): number | bigint | undefined {
  const groups = INTEGER.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const digits =
    groups["hex"] !== undefined
      ? `0x${groups["hex"]}`
      : groups["binary"] !== undefined
        ? `0b${groups["binary"]}`
        : groups["octal"] !== undefined
          ? `0o${groups["octal"]}`
          : (groups["decimal"] ?? "0");
  if (digits.length > 70) return undefined;
  const value = groups["sign"] === "-" ? -BigInt(digits) : BigInt(digits);
  if (value < MIN_INT64 || value > MAX_UINT64) return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function float(text: string): number | undefined {
  if (!FLOAT.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}
