import type { SchemaSet } from "../../api/index.ts";
import { NodeletError } from "../../errors/index.ts";
import { parseJsonNodes } from "./json-nodes.ts";
import {
  type ManifestNode,
  type MappingNode,
  type NodeWarning,
  type ParsedText,
  type ScalarValue,
  TextFault,
} from "./node.ts";
import { firstDocument, TextIndex } from "./text.ts";
import { decodeTyped } from "./typed-decode.ts";
import { parseYamlNodes } from "./yaml-nodes.ts";

/** Upstream's limit for files and answers. */
export const MAX_MANIFEST_BYTES = 10 * 1024 * 1024;

/** Members that are looked at for nulls, and how deep. */
const MAX_MEMBERS = 100_000;
const MAX_NULL_DEPTH = 8;

/** What to decode, and as what. */
export interface DecodeObjectInput {
  readonly bytes: Uint8Array | string;
  /** Names the text in messages: a path or a URL. */
  readonly source: string;
  readonly apiVersion: string;
  /** Kinds that may come; each is a type of `schemas`. The first is the one that messages ask for. */
  readonly kinds: readonly [string, ...string[]];
  /** The pod's own when absent. */
  readonly schemas?: SchemaSet;
}

/** An object of a known type, decoded. Defaults are not applied and nothing is validated beyond the types. */
export interface DecodedObject {
  readonly kind: string;
  readonly value: Readonly<Record<string, unknown>>;
  /** Unknown fields, keys written twice, further documents: `<source>:<line>:<column>: <field>: <what>`. */
  readonly warnings: readonly string[];
  /** Paths of the fields that are written as null, which a merge patch (RFC 7386) takes as "remove". */
  readonly nulls: readonly (readonly string[])[];
  /** The prefix `<source>:<line>:<column>` of a field path, or of the nearest field around it that is there. */
  readonly locate: (fieldPath: string) => string;
}

/**
 * Decodes the text of one object, in JSON or YAML 1.1 as Kubernetes reads it: lenient about unknown fields and keys written twice (the last
 * counts), strict about types. Only the first document of a YAML stream counts. Throws `invalid`, and nothing else, whose message names the
 * source, line and column, the field and what was expected.
 */
export function decodeObject(input: DecodeObjectInput): DecodedObject {
  const { source } = input;
  const [wanted] = input.kinds;
  const text = toText(input);
  const index = new TextIndex(text);
  const at = (offset: number): string => {
    const { line, column } = index.place(Math.max(0, Math.min(offset, text.length)));
    return `${source}:${line}:${column}`;
  };
  const { parsed, warnings } = parse({ text, source, at, wanted });
  const { root } = parsed;
  if (root.kind !== "mapping") {
    const found = root.kind === "sequence" ? "a list" : "a single value";
    throw invalid(`${at(root.offset)}: expected an object of kind ${wanted}, found ${found}`);
  }
  const kind = kindOf(root, { ...input, at });
  const decoded = decode({ root, kind, input });
  if (decoded.errors.length > 0) {
    throw invalid(decoded.errors.map((error) => `${at(error.offset)}: ${error.path}: ${error.message}`).join("; "));
  }
  return {
    kind,
    value: decoded.value as Record<string, unknown>,
    warnings: [
      ...[...warnings, ...parsed.warnings].map((warning) => `${at(warning.offset)}: ${warning.message}`),
      ...decoded.warnings.map((warning) => `${at(warning.offset)}: ${warning.path}: ${warning.message}`),
    ],
    nulls: nullPaths(root, source),
    locate: (fieldPath) => at(nearestPlace(decoded.places, fieldPath)),
  };
}

type At = (offset: number) => string;

function toText({ bytes, source }: DecodeObjectInput): string {
  const size = typeof bytes === "string" ? new TextEncoder().encode(bytes).length : bytes.length;
  if (size > MAX_MANIFEST_BYTES) {
    throw invalid(`${source}: ${size} bytes is too much for a manifest; at most ${MAX_MANIFEST_BYTES} are read`);
  }
  if (typeof bytes === "string") return bytes.replace(/^\uFEFF/, "");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new NodeletError("invalid", `${source}: the text is not UTF-8; is it a manifest at all?`, { cause: error });
  }
}

interface TextInput {
  readonly text: string;
  readonly source: string;
  readonly wanted: string;
}

function parse(input: TextInput & { readonly at: At }): {
  readonly parsed: ParsedText;
  readonly warnings: readonly NodeWarning[];
} {
  const { text, source, wanted, at } = input;
  if (text.trim() === "") throw invalid(`${source}: the file is empty; expected a ${wanted} in YAML or JSON`);
  const looksLikeJson = /^\s*\{/.test(text);
  try {
    return {
      parsed: parseJson({ text, source, looksLikeJson }) ?? parseYaml(input),
      warnings: furtherDocuments(text, looksLikeJson),
    };
  } catch (error) {
    if (error instanceof TextFault)
      throw new NodeletError("invalid", `${at(error.offset)}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** JSON when it is JSON; a YAML flow mapping begins the same way, so that what is no JSON is tried as YAML. */
function parseJson(input: {
  readonly text: string;
  readonly source: string;
  readonly looksLikeJson: boolean;
}): ParsedText | undefined {
  if (!input.looksLikeJson) return undefined;
  try {
    return parseJsonNodes(input.text, input.source);
  } catch (error) {
    if (!NodeletError.is(error)) throw error;
    try {
      return parseYamlNodes(firstDocument(input.text).text);
    } catch (yamlError) {
      if (!(yamlError instanceof TextFault)) throw yamlError;
      // Quoted keys speak for JSON: its parser's message fits better then.
      if (/^\s*\{\s*"/.test(input.text)) throw error;
      throw yamlError;
    }
  }
}

function parseYaml({ text, source, wanted }: TextInput): ParsedText {
  const parsed = parseYamlNodes(firstDocument(text).text);
  if (parsed === undefined)
    throw invalid(`${source}: there is nothing but comments; expected a ${wanted} in YAML or JSON`);
  return parsed;
}

function furtherDocuments(text: string, looksLikeJson: boolean): NodeWarning[] {
  if (looksLikeJson) return [];
  const first = firstDocument(text);
  return first.hasMore
    ? [
        {
          offset: first.text.length,
          message: "only the first document of the file is used; put each object into a file of its own",
        },
      ]
    : [];
}

function kindOf(root: MappingNode, options: Pick<DecodeObjectInput, "apiVersion" | "kinds"> & { at: At }): string {
  const { apiVersion, kinds, at } = options;
  const text = (key: string): ScalarValue | undefined => {
    const node = root.members.get(key)?.value;
    return node?.kind === "scalar" ? node.value : undefined;
  };
  const offsetOf = (key: string): number => root.members.get(key)?.value.offset ?? root.offset;
  const shown = (value: ScalarValue | undefined): string =>
    value === undefined ? "nothing" : JSON.stringify(String(value));
  const kind = kinds.find((candidate) => candidate === text("kind"));
  if (kind === undefined)
    throw invalid(`${at(offsetOf("kind"))}: kind: expected "${kinds[0]}", found ${shown(text("kind"))}`);
  if (text("apiVersion") !== apiVersion) {
    const found = shown(text("apiVersion"));
    throw invalid(`${at(offsetOf("apiVersion"))}: apiVersion: expected "${apiVersion}", found ${found}`);
  }
  return kind;
}

function decode(options: {
  readonly root: MappingNode;
  readonly kind: string;
  readonly input: DecodeObjectInput;
}): ReturnType<typeof decodeTyped> {
  const { root, kind, input } = options;
  try {
    return decodeTyped({ root, type: kind, ...(input.schemas && { schemas: input.schemas }) });
  } catch (error) {
    if (NodeletError.is(error))
      throw new NodeletError("invalid", `${input.source}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** Only mappings are gone into: in a list null is a value. */
function nullPaths(root: ManifestNode, source: string): string[][] {
  const paths: string[][] = [];
  let left = MAX_MEMBERS;
  const visit = (node: ManifestNode, path: readonly string[]): void => {
    if (node.kind === "scalar" && node.value === null && path.length > 0) paths.push([...path]);
    if (node.kind !== "mapping" || path.length >= MAX_NULL_DEPTH) return;
    for (const [key, member] of node.members) {
      // Aliases share nodes, and fields that nobody knows are not counted elsewhere: ten aliases of ten aliases add up here.
      left -= 1;
      if (left < 0) throw invalid(`${source}: the manifest is too large once its aliases are followed`);
      visit(member.value, [...path, key]);
    }
  };
  visit(root, []);
  return paths;
}

/** The offset of the field, or of the closest one above it that stands in the text. */
function nearestPlace(places: ReadonlyMap<string, number>, fieldPath: string): number {
  let path = fieldPath;
  while (path !== "" && !places.has(path)) path = path.replace(/(?:\[[^[\]]*\]|\.?[^.[\]]+|.)$/, "");
  return places.get(path) ?? 0;
}

function invalid(message: string): NodeletError {
  return new NodeletError("invalid", message);
}
