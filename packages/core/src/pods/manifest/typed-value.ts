import { NodeletError } from "../../errors/index.ts";
import type { ManifestNode, Member } from "./node.ts";
import { decodeTyped } from "./typed-decode.ts";

const MAX_DEPTH = 100;

/**
 * Checks a value that a program made against an object type of the API, and answers a copy that shares nothing with it: types as in a
 * manifest, quantities in canonical form, members that are undefined left out, unknown ones dropped. Throws `invalid` that names every field.
 */
export function decodeValue<T>(input: { readonly value: unknown; readonly type: string; readonly what: string }): T {
  const { errors, value } = decodeTyped({ root: nodeOf(input.value, input.what), type: input.type });
  if (errors.length > 0) {
    throw new NodeletError(
      "invalid",
      `${input.what}: ${errors.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ")}`,
    );
  }
  return value as T;
}

function nodeOf(value: unknown, what: string, depth = 0): ManifestNode {
  if (depth > MAX_DEPTH)
    throw new NodeletError("invalid", `${what}: nested more than ${MAX_DEPTH} levels deep; does it contain itself?`);
  if (Array.isArray(value))
    return { kind: "sequence", offset: -1, items: value.map((item) => nodeOf(item, what, depth + 1)) };
  switch (typeof value) {
    case "string":
    case "boolean":
    case "bigint":
      return { kind: "scalar", offset: -1, value, source: String(value) };
    case "number":
      if (!Number.isFinite(value)) throw new NodeletError("invalid", `${what}: the number ${value} has no JSON form`);
      return { kind: "scalar", offset: -1, value, source: String(value) };
    case "object": {
      if (value === null) return { kind: "scalar", offset: -1, value, source: "null" };
      const members = Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .map(([key, member]): [string, Member] => [key, { keyOffset: -1, value: nodeOf(member, what, depth + 1) }]);
      return { kind: "mapping", offset: -1, members: new Map(members) };
    }
    case "undefined":
      return { kind: "scalar", offset: -1, value: null, source: "undefined" };
    default:
      throw new NodeletError("invalid", `${what}: a ${typeof value} has no JSON form`);
  }
}
