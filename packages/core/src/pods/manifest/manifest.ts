import type { Pod, PodList } from "../../api/index.ts";
import { NodeletError } from "../../errors/index.ts";
import { parseJsonNodes } from "./json-nodes.ts";
import { type MappingNode, type NodeWarning, type ParsedText, TextFault } from "./node.ts";
import { firstDocument, TextIndex } from "./text.ts";
import { decodeTyped } from "./typed-decode.ts";
import { parseYamlNodes } from "./yaml-nodes.ts";

/** Upstream's limit for files and answers. */
export const MAX_MANIFEST_BYTES = 10 * 1024 * 1024;

/** One manifest, decoded. Defaults are not applied and nothing is validated beyond the types. */
export interface DecodedManifest {
  readonly kind: "Pod" | "PodList";
  readonly pods: readonly Pod[];
  /** Unknown fields, keys written twice, further documents: `<source>:<line>:<column>: <field>: <what>`. */
  readonly warnings: readonly string[];
  /** The prefix `<source>:<line>:<column>` of a field path, or of the nearest field around it that is there. */
  readonly locate: (fieldPath: string) => string;
}

/**
 * Decodes the text of one manifest: a Pod or a PodList of v1, in JSON or YAML 1.1 as Kubernetes reads it. Only the first document of a YAML
 * stream counts. Throws `invalid`, and nothing else, whose message names the source, line and column, the field and what was expected.
 */
export function decodeManifest(input: {
  readonly bytes: Uint8Array | string;
  readonly source: string;
}): DecodedManifest {
  const { source } = input;
  const text = toText(input);
  const index = new TextIndex(text);
  const at = (offset: number): string => {
    const { line, column } = index.place(Math.max(0, Math.min(offset, text.length)));
    return `${source}:${line}:${column}`;
  };
  const { parsed, warnings } = parse({ text, source, at });
  const root = parsed.root;
  if (root.kind !== "mapping")
    throw invalid(
      `${at(root.offset)}: expected an object of kind Pod, found ${root.kind === "sequence" ? "a list" : "a single value"}`,
    );
  const kind = kindOf(root, at);
  const decoded = decode({ root, kind, source });
  if (decoded.errors.length > 0) {
    throw invalid(decoded.errors.map((error) => `${at(error.offset)}: ${error.path}: ${error.message}`).join("; "));
  }
  return {
    kind,
    pods: kind === "Pod" ? [decoded.value as Pod] : (decoded.value as PodList).items,
    warnings: [
      ...[...warnings, ...parsed.warnings].map((warning) => `${at(warning.offset)}: ${warning.message}`),
      ...decoded.warnings.map((warning) => `${at(warning.offset)}: ${warning.path}: ${warning.message}`),
    ],
    locate: (fieldPath) => at(nearestPlace(decoded.places, fieldPath)),
  };
}

type At = (offset: number) => string;

function toText({ bytes, source }: { readonly bytes: Uint8Array | string; readonly source: string }): string {
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

function parse({ text, source, at }: { readonly text: string; readonly source: string; readonly at: At }): {
  readonly parsed: ParsedText;
  readonly warnings: readonly NodeWarning[];
} {
  if (text.trim() === "") throw invalid(`${source}: the file is empty; expected a Pod in YAML or JSON`);
  const looksLikeJson = /^\s*\{/.test(text);
  try {
    return {
      parsed: parseJson({ text, source, looksLikeJson }) ?? parseYaml({ text, source }),
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

function parseYaml({ text, source }: { readonly text: string; readonly source: string }): ParsedText {
  const parsed = parseYamlNodes(firstDocument(text).text);
  if (parsed === undefined) throw invalid(`${source}: there is nothing but comments; expected a Pod in YAML or JSON`);
  return parsed;
}

function furtherDocuments(text: string, looksLikeJson: boolean): NodeWarning[] {
  if (looksLikeJson) return [];
  const first = firstDocument(text);
  return first.hasMore
    ? [
        {
          offset: first.text.length,
          message: "only the first document of the file is used; put each pod into a file of its own",
        },
      ]
    : [];
}

function kindOf(root: MappingNode, at: At): "Pod" | "PodList" {
  const text = (key: string): unknown => {
    const node = root.members.get(key)?.value;
    return node?.kind === "scalar" ? node.value : undefined;
  };
  const offsetOf = (key: string): number => root.members.get(key)?.value.offset ?? root.offset;
  const kind = text("kind");
  if (kind !== "Pod" && kind !== "PodList") {
    throw invalid(
      `${at(offsetOf("kind"))}: kind: expected "Pod", found ${kind === undefined ? "nothing" : JSON.stringify(String(kind))}`,
    );
  }
  const version = text("apiVersion");
  if (version !== "v1") {
    const found = version === undefined ? "nothing" : JSON.stringify(String(version));
    throw invalid(`${at(offsetOf("apiVersion"))}: apiVersion: expected "v1", found ${found}`);
  }
  return kind;
}

function decode(input: {
  readonly root: MappingNode;
  readonly kind: string;
  readonly source: string;
}): ReturnType<typeof decodeTyped> {
  try {
    return decodeTyped({ root: input.root, type: input.kind });
  } catch (error) {
    if (NodeletError.is(error))
      throw new NodeletError("invalid", `${input.source}: ${error.message}`, { cause: error });
    throw error;
  }
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
