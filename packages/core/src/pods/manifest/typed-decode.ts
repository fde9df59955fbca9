import { canonicalQuantity, type FieldSchema, type ObjectSchema, podSchema, type SchemaSet } from "../../api/index.ts";
import { NodeletError } from "../../errors/index.ts";
import { parseRfc3339 } from "../timestamp.ts";
import type { ManifestNode, MappingNode, ScalarNode } from "./node.ts";

/** Something found at one field. */
export interface FieldFinding {
  readonly path: string;
  readonly offset: number;
  readonly message: string;
}

/** A decoded object with all that was found. `value` is complete only when there are no errors. */
export interface TypedDecode {
  readonly value: unknown;
  readonly errors: readonly FieldFinding[];
  readonly warnings: readonly FieldFinding[];
  /** Offsets of all fields by path. */
  readonly places: ReadonlyMap<string, number>;
}

const MIN_INT32 = -(2 ** 31);
const MAX_INT32 = 2 ** 31 - 1;
const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;
/** Values that one manifest may come to once its aliases are followed: a thousand aliases of a thousand aliases are no pod. */
const MAX_VALUES = 100_000;
const MAX_DEPTH = 100;
const MAX_FINDINGS = 20;

/**
 * Decodes nodes against an object type of the API as Go's JSON decoder does for Kubernetes: names match exactly, unknown fields are warned about,
 * null is absence, numbers and booleans never become strings or the other way round, required fields that are absent hold their zero value.
 */
export function decodeTyped(input: {
  readonly root: ManifestNode;
  readonly type: string;
  readonly schemas?: SchemaSet;
}): TypedDecode {
  const decoder = new Decoder(input.schemas ?? podSchema);
  const value = decoder.object(input.root, { type: input.type, path: "", depth: 0 });
  return { value, errors: decoder.errors, warnings: decoder.warnings, places: decoder.places };
}

interface At {
  readonly path: string;
  readonly depth: number;
}

class Decoder {
  readonly errors: FieldFinding[] = [];
  readonly warnings: FieldFinding[] = [];
  readonly places = new Map<string, number>();
  readonly #schemas: SchemaSet;
  #count = 0;

  constructor(schemas: SchemaSet) {
    this.#schemas = schemas;
  }

  object(node: ManifestNode, at: At & { readonly type: string }): Record<string, unknown> {
    const schema = Object.hasOwn(this.#schemas, at.type) ? this.#schemas[at.type] : undefined;
    if (schema === undefined) throw new NodeletError("internal", `no schema of ${at.type}`);
    this.#visit(node, at);
    if (node.kind !== "mapping") {
      if (!isNull(node)) this.#wrong(node, { at, expected: "a mapping (an object)" });
      return this.#zeroFields(schema, new Map());
    }
    const fields = new Map<string, unknown>();
    for (const [name, member] of node.members) {
      const path = at.path === "" ? name : `${at.path}.${name}`;
      const field = Object.hasOwn(schema.fields, name) ? schema.fields[name] : undefined;
      if (field === undefined) {
        this.#unknown({ name, path, offset: member.keyOffset, schema });
      } else if (!isNull(member.value)) {
        fields.set(name, this.#field(member.value, { field, path, depth: at.depth + 1 }));
      }
    }
    return this.#zeroFields(schema, fields);
  }

  #zeroFields(schema: ObjectSchema, fields: Map<string, unknown>): Record<string, unknown> {
    for (const name of schema.required) {
      const field = schema.fields[name];
      if (field !== undefined && !fields.has(name)) fields.set(name, this.#zero(field));
    }
    return Object.fromEntries(fields);
  }

  #zero(field: FieldSchema): unknown {
    if (field.list !== undefined) return [];
    if (field.map === true) return {};
    switch (field.type) {
      case "string":
      case "bytes":
      case "time":
      case "microTime":
        return "";
      case "quantity":
        return "0";
      case "boolean":
        return false;
      case "object": {
        const schema = this.#schemas[field.of ?? ""];
        return schema === undefined ? {} : this.#zeroFields(schema, new Map());
      }
      case "any":
        return null;
      default:
        return 0;
    }
  }

  #field(node: ManifestNode, at: At & { readonly field: FieldSchema }): unknown {
    const { field } = at;
    if (field.list !== undefined) {
      this.#visit(node, at);
      if (node.kind !== "sequence") return this.#wrong(node, { at, expected: "a list" });
      return node.items.map((item, index) =>
        this.#value(item, { ...at, path: `${at.path}[${index}]`, depth: at.depth + 1 }),
      );
    }
    if (field.map === true) {
      this.#visit(node, at);
      if (node.kind !== "mapping") return this.#wrong(node, { at, expected: "a mapping (an object)" });
      const entries = [...node.members].map(([key, member]): [string, unknown] => [
        key,
        this.#value(member.value, { ...at, path: `${at.path}.${key}`, depth: at.depth + 1 }),
      ]);
      return Object.fromEntries(entries);
    }
    return this.#value(node, at);
  }

  #value(node: ManifestNode, at: At & { readonly field: FieldSchema }): unknown {
    const { field } = at;
    if (field.type === "object") return this.object(node, { ...at, type: field.of ?? "" });
    this.#visit(node, at);
    if (field.type === "any") return this.#anything(node, at);
    if (isNull(node)) return this.#zero(field);
    if (node.kind !== "scalar") return this.#wrong(node, { at, expected: expectedText(field) });
    const value = decodeScalar(node, field);
    return value === undefined ? this.#wrong(node, { at, expected: expectedText(field) }) : value;
  }

  #anything(node: ManifestNode, at: At): unknown {
    if (node.kind === "scalar") return node.value;
    const inside = { ...at, depth: at.depth + 1 };
    const visit = (child: ManifestNode): unknown => {
      this.#visit(child, inside);
      return this.#anything(child, inside);
    };
    if (node.kind === "sequence") return node.items.map(visit);
    return Object.fromEntries([...node.members].map(([key, member]) => [key, visit(member.value)]));
  }

  /** Counts a value and remembers where it stands; ends the work when a manifest grows beyond all measure. */
  #visit(node: ManifestNode, at: At): void {
    this.#count += 1;
    if (this.#count > MAX_VALUES || at.depth > MAX_DEPTH) {
      throw new NodeletError("invalid", `${at.path}: the manifest is too large once its aliases are followed`);
    }
    if (node.offset >= 0 && !this.places.has(at.path)) this.places.set(at.path, node.offset);
  }

  #unknown(field: {
    readonly name: string;
    readonly path: string;
    readonly offset: number;
    readonly schema: ObjectSchema;
  }): void {
    if (this.warnings.length >= MAX_FINDINGS) return;
    const meant = Object.keys(field.schema.fields).find((name) => name.toLowerCase() === field.name.toLowerCase());
    const hint = meant === undefined ? "" : `; did you mean "${meant}"?`;
    this.warnings.push({ path: field.path, offset: field.offset, message: `unknown field, ignored${hint}` });
  }

  #wrong(node: ManifestNode, fault: { readonly at: At; readonly expected: string }): undefined {
    if (this.errors.length < MAX_FINDINGS) {
      const message = `expected ${fault.expected}, found ${describe(node)}`;
      this.errors.push({ path: fault.at.path, offset: node.offset, message });
    }
    return undefined;
  }
}

function isNull(node: ManifestNode): boolean {
  return node.kind === "scalar" && node.value === null;
}

function decodeScalar(node: ScalarNode, field: FieldSchema): unknown {
  const { value } = node;
  switch (field.type) {
    case "string":
      return typeof value === "string" ? value : undefined;
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "int32":
      return isInt32(value) ? value : undefined;
    case "int64":
      return isInt64(value) ? value : undefined;
    case "intOrString":
      return typeof value === "string" || isInt32(value) ? value : undefined;
    case "quantity":
      return typeof value === "boolean" ? undefined : quantity(value);
    case "time":
    case "microTime":
      return typeof value === "string" && parseRfc3339(value) !== undefined ? value : undefined;
    case "bytes":
      return typeof value === "string" && /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(value)
        ? value
        : undefined;
    default:
      return value;
  }
}

function isInt32(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= MIN_INT32 && value <= MAX_INT32;
}

function isInt64(value: unknown): boolean {
  if (typeof value === "bigint") return value >= MIN_INT64 && value <= MAX_INT64;
  return typeof value === "number" && Number.isSafeInteger(value);
}

function quantity(value: ScalarNode["value"]): string | undefined {
  try {
    return canonicalQuantity(typeof value === "bigint" || typeof value === "number" ? value : String(value));
  } catch (error) {
    if (NodeletError.is(error)) return undefined;
    throw error;
  }
}

function expectedText(field: FieldSchema): string {
  switch (field.type) {
    case "string":
      return "a string";
    case "boolean":
      return "a boolean (true or false)";
    case "int32":
      return "a whole number of 32 bits";
    case "int64":
      return "a whole number of 64 bits";
    case "intOrString":
      return "a whole number or a string";
    case "quantity":
      return "a quantity such as 100m, 1.5 or 64Mi";
    case "time":
    case "microTime":
      return "a time such as 2006-01-02T15:04:05Z";
    case "bytes":
      return "base64 text";
    default:
      return "a value";
  }
}

function describe(node: ManifestNode): string {
  if (node.kind === "sequence") return "a list";
  if (node.kind === "mapping") return describeMapping(node);
  const { value, source } = node;
  if (value === null) return "nothing";
  const shown = source.length > 40 ? `${source.slice(0, 40)}…` : source;
  if (typeof value === "boolean") return `the boolean ${shown} (write "${shown}" in quotes if the text is meant)`;
  if (typeof value === "string") return `the string ${JSON.stringify(shown)}`;
  return `the number ${shown} (write "${shown}" in quotes if the text is meant)`;
}

function describeMapping(node: MappingNode): string {
  const [first] = node.members.keys();
  return first === undefined ? "an empty mapping" : `a mapping with the key ${JSON.stringify(first.slice(0, 40))}`;
}
