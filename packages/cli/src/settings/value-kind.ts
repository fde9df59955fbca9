import { isIP } from "node:net";
import { Amount, type FieldSchema, goDuration, parseGoDuration } from "@nodelet/core";

/**
 * One kind of value: how it is written as a flag and in a configuration file. Both readers answer undefined for what is no such value; `expected`
 * says what it should be.
 */
export interface ValueKind<V> {
  /** The kubelet's name of the type, as --help shows it. */
  readonly name: string;
  readonly expected: string;
  /** The same for a file, where it is written in another way. */
  readonly expectedInFile?: string;
  /** May be given more than once; the values are one list then. */
  readonly repeated?: true;
  /** A flag of this kind needs no value: it means true. */
  readonly isSwitch?: true;
  /** What the file's decoder checks by itself; `fromFile` sees only values that fit. */
  readonly schema: FieldSchema;
  /** All texts of the flag, in order. Without `repeated` there is one. */
  fromFlag(texts: readonly [string, ...string[]]): V | undefined;
  fromFile(value: unknown): V | undefined;
  /** Adds a later value to an earlier one, key by key. Without it the later one replaces the earlier. */
  merge?(earlier: V, later: V): V;
  /** How --help shows a default; plain text when absent. */
  show?(value: V): string;
}

const MAX_INT32 = 2 ** 31 - 1;

/** Any text. */
export const text: ValueKind<string> = {
  name: "string",
  expected: "a string",
  schema: { type: "string" },
  fromFlag: ([value]) => value,
  fromFile: (value) => value as string,
};

/** A boolean, written as Go's strconv.ParseBool takes it. */
export const bool: ValueKind<boolean> = {
  name: "bool",
  expected: "true or false",
  isSwitch: true,
  schema: { type: "boolean" },
  fromFlag: ([value]) => parseBool(value),
  fromFile: (value) => value as boolean,
};

/** A whole number of 32 bits. */
export const int32: ValueKind<number> = {
  name: "int32",
  expected: "a whole number of 32 bits",
  schema: { type: "int32" },
  fromFlag: ([value]) => wholeNumber(value, MAX_INT32),
  fromFile: (value) => value as number,
};

/** A whole number of at most 53 bits, which is more than any setting means. */
export const int64: ValueKind<number> = {
  name: "int64",
  expected: "a whole number",
  schema: { type: "int64" },
  fromFlag: ([value]) => wholeNumber(value, Number.MAX_SAFE_INTEGER),
  fromFile: (value) => (typeof value === "number" ? value : undefined),
};

/** A time span in Go's syntax; milliseconds. */
export const duration: ValueKind<number> = {
  name: "duration",
  expected: "a duration such as 300ms, 20s or 1h30m",
  schema: { type: "string" },
  fromFlag: ([value]) => parseGoDuration(value),
  fromFile: (value) => parseGoDuration(value as string),
  show: goDuration,
};

/** An IP address. */
export const ip: ValueKind<string> = {
  name: "ip",
  expected: "an IP address such as 127.0.0.1 or ::1",
  schema: { type: "string" },
  fromFlag: ([value]) => address(value),
  fromFile: (value) => address(value as string),
};

/** A list of texts, comma separated as a flag. */
export const texts: ValueKind<readonly string[]> = {
  name: "strings",
  expected: "a comma separated list",
  repeated: true,
  schema: { type: "string", list: "atomic" },
  fromFlag: (values) => values.flatMap(splitList),
  fromFile: (value) => value as string[],
};

/** Booleans by name; merged name by name over all places where they are set. */
export const switches: ValueKind<Readonly<Record<string, boolean>>> = {
  name: "mapStringBool",
  expected: "a comma separated list of name=true and name=false",
  repeated: true,
  schema: { type: "boolean", map: true },
  fromFlag: (values) => record(values.flatMap(splitList), (value) => parseBool(value)),
  fromFile: (value) => value as Record<string, boolean>,
  merge: (earlier, later) => ({ ...earlier, ...later }),
};

/** Texts by name in a file. */
export const textMap: ValueKind<Readonly<Record<string, string>>> = {
  name: "mapStringString",
  expected: "a comma separated list of name=value",
  repeated: true,
  schema: { type: "string", map: true },
  fromFlag: (values) => record(values.flatMap(splitList), (value) => value),
  fromFile: (value) => value as Record<string, string>,
};

/** HTTP headers: name:value pairs as a flag, lists of values by name in a file. */
export const headers: ValueKind<readonly (readonly [name: string, value: string])[]> = {
  name: "colonSeparatedMultimapStringString",
  expected: "a comma separated list of name:value",
  expectedInFile: "lists of values by name, such as Accept: [text/plain]",
  repeated: true,
  schema: { type: "any" },
  fromFlag: (values) => pairs(values.flatMap(splitList), ":"),
  fromFile: headersFromFile,
};

/** Resources that are kept free, as a file has them; only memory.available counts so far. */
export const thresholds: ValueKind<Readonly<Record<string, string>>> = {
  ...textMap,
  expected: "quantities by signal, such as memory.available: 100Mi",
  fromFile: (value) => {
    const given = value as Record<string, string>;
    const isRight = (text: string): boolean => /^\d+(\.\d+)?%$/.test(text) || isQuantity(text);
    return Object.values(given).every(isRight) ? given : undefined;
  },
};

/** As strconv.ParseBool. */
export function parseBool(value: string): boolean | undefined {
  if (["1", "t", "T", "TRUE", "true", "True"].includes(value)) return true;
  return ["0", "f", "F", "FALSE", "false", "False"].includes(value) ? false : undefined;
}

function wholeNumber(value: string, limit: number): number | undefined {
  if (!/^[-+]?\d+$/.test(value)) return undefined;
  const number = Number(value);
  return number <= limit && number >= -limit - 1 ? number : undefined;
}

function address(value: string): string | undefined {
  return isIP(value) === 0 ? undefined : value;
}

function splitList(value: string): string[] {
  return value === "" ? [] : value.split(",").map((part) => part.trim());
}

function pairs(parts: readonly string[], separator: string): [string, string][] | undefined {
  const found: [string, string][] = [];
  for (const part of parts) {
    const at = part.indexOf(separator);
    if (at <= 0) return undefined;
    found.push([part.slice(0, at).trim(), part.slice(at + 1).trim()]);
  }
  return found;
}

function record<V>(
  parts: readonly string[],
  read: (value: string) => V | undefined,
): Readonly<Record<string, V>> | undefined {
  const found = pairs(parts, "=");
  if (found === undefined) return undefined;
  const values: [string, V][] = [];
  for (const [name, value] of found) {
    const parsed = read(value);
    if (parsed === undefined) return undefined;
    values.push([name, parsed]);
  }
  return Object.fromEntries(values);
}

function headersFromFile(value: unknown): [string, string][] | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const found: [string, string][] = [];
  for (const [name, list] of Object.entries(value)) {
    if (!Array.isArray(list)) return undefined;
    for (const entry of list as readonly unknown[]) {
      if (typeof entry !== "string") return undefined;
      found.push([name, entry]);
    }
  }
  return found;
}

function isQuantity(value: string): boolean {
  try {
    Amount.parse(value);
    return true;
  } catch {
    return false;
  }
}
