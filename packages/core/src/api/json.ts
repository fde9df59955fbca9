import { NodeletError } from "../errors/index.ts";
import { findJsonFault, findTooDeep } from "./json-fault.ts";

/** Bounds and naming for `parseJson`. */
export interface ParseJsonOptions {
  /** What the text is, for messages: a path, a URL, "response of …". */
  readonly source?: string;
  /** Levels of objects and arrays inside one another. Default 200. */
  readonly maxDepth?: number;
  /** Longest text in UTF-16 units. Default 64 Mi. */
  readonly maxLength?: number;
}

/** How `stringifyJson` writes. */
export interface StringifyJsonOptions {
  /** Spaces per level; none by default. */
  readonly indent?: number;
  /** Write `<`, `>`, `&`, U+2028 and U+2029 as Go's encoder does (\u003c …), for hashes over Go's output. */
  readonly goEscapes?: boolean;
}

type SourceReviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown;
/** ECMAScript's source text access (https://tc39.es/proposal-json-parse-with-source/); not yet among the library types. */
const sourceAccess = JSON as unknown as {
  parse(text: string, reviver: SourceReviver): unknown;
  rawJSON(text: string): unknown;
};

const MIN_INT64 = -(2n ** 63n);
const MAX_UINT64 = 2n ** 64n - 1n;
/** A number with 16 digits or a large exponent: it may leave the exact integers or the doubles. Only then is each looked at. */
const DELICATE_NUMBER = /(?:^|[[:,\s])-?(?:\d{16}|\d[\d.]*[eE]\+?\d{3})/;

/**
 * Parses JSON. Integers beyond 2^53 become bigints as long as they fit int64 or uint64 (beyond that they are doubles, as in
 * Kubernetes); keys such as `__proto__` are plain data. Throws `invalid` with line, column and what was expected.
 */
export function parseJson(text: string, options: ParseJsonOptions = {}): unknown {
  const { source = "JSON", maxDepth = 200, maxLength = 64 * 1024 * 1024 } = options;
  if (text.length > maxLength) {
    throw new NodeletError(
      "invalid",
      `${source}: too long: ${text.length} characters, at most ${maxLength} are accepted`,
    );
  }
  // Walking values (ours and every caller's) recurses, so depth is bounded before anything is built.
  const tooDeep = findTooDeep(text, maxDepth);
  if (tooDeep !== undefined) {
    throw faultAt({ source, text, offset: tooDeep, problem: `nested more than ${maxDepth} levels deep` });
  }
  try {
    return DELICATE_NUMBER.test(text) ? sourceAccess.parse(text, reviveNumber) : JSON.parse(text);
  } catch (error) {
    if (error instanceof UnrepresentableNumber) throw new NodeletError("invalid", `${source}: ${error.message}`);
    const fault = findJsonFault(text) ?? { offset: text.length, expected: "JSON" };
    const found = fault.offset < text.length ? JSON.stringify(text.charAt(fault.offset)) : "the end of the text";
    throw faultAt({
      source,
      text,
      offset: fault.offset,
      problem: `expected ${fault.expected}, found ${found}`,
      cause: error,
    });
  }
}

/** Thrown by the reviver, which does not know where the text came from. */
class UnrepresentableNumber extends Error {}

function faultAt(fault: {
  source: string;
  text: string;
  offset: number;
  problem: string;
  cause?: unknown;
}): NodeletError {
  const before = fault.text.slice(0, fault.offset);
  const line = before.split("\n").length;
  const column = fault.offset - before.lastIndexOf("\n");
  return new NodeletError("invalid", `${fault.source}:${line}:${column}: ${fault.problem}`, { cause: fault.cause });
}

function reviveNumber(this: unknown, _key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== "number" || context.source === undefined) return value;
  if (!Number.isFinite(value)) {
    throw new UnrepresentableNumber(`the number ${context.source.slice(0, 40)} is too large`);
  }
  if (Number.isSafeInteger(value) || context.source.length > 20 || !/^-?\d+$/.test(context.source)) return value;
  const exact = BigInt(context.source);
  return exact >= MIN_INT64 && exact <= MAX_UINT64 ? exact : value;
}

/**
 * Writes JSON; bigints become plain integers. Members keep their order; undefined ones are left out.
 * Throws `invalid` when the value has no JSON form (a cycle, a function).
 */
export function stringifyJson(value: unknown, options: StringifyJsonOptions = {}): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, rawBigints, options.indent);
  } catch (error) {
    throw new NodeletError("invalid", `not representable as JSON: ${(error as Error).message}`, { cause: error });
  }
  if (text === undefined) {
    throw new NodeletError("invalid", `not representable as JSON: a value of type ${typeof value}`);
  }
  return options.goEscapes === true ? text.replace(/[<>&\u2028\u2029]/g, goEscape) : text;
}

function rawBigints(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? sourceAccess.rawJSON(value.toString()) : value;
}

function goEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
