/** Writes the machine-readable schema of the objects that the node decodes from outside. */
import { locateType, type OpenApiFacts, type PropertyFact, refTarget } from "./openapi.ts";

/** What one schema file holds: the named definitions and everything they refer to. */
export interface SchemaRequest {
  readonly facts: OpenApiFacts;
  readonly roots: readonly string[];
  /** Name of the exported constant. */
  readonly exportName: string;
}

const scalarKinds: Readonly<Record<string, string>> = {
  Quantity: "quantity",
  IntOrString: "intOrString",
  Time: "time",
  MicroTime: "microTime",
  RawExtension: "any",
  FieldsV1: "any",
};

/**
 * Renders a module that exports one `SchemaSet` (packages/core/src/api/schema.ts), plain data without code.
 * Two definitions that share a short name inside one closure are refused.
 */
export function renderSchema(request: SchemaRequest): string {
  const objects = new Map<string, object>();
  const seen = new Map<string, string>();
  const queue = [...request.roots];
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    const short = locateType(name).name;
    const earlier = seen.get(short);
    if (earlier === name) {
      continue;
    }
    if (earlier !== undefined) {
      throw new Error(`${earlier} and ${name} share the short name ${short} in ${request.exportName}`);
    }
    seen.set(short, name);
    const definition = request.facts.definitions[name];
    if (definition === undefined) {
      throw new Error(`${name}: not among the definitions of facts/openapi.json`);
    }
    const fields = Object.entries(definition.properties ?? {}).map(([key, fact]) => [
      key,
      describeField(fact, (target) => queue.push(target)),
    ]);
    objects.set(short, {
      fields: Object.fromEntries(fields),
      required: definition.required ?? [],
      ...(definition["x-kubernetes-map-type"] === "atomic" ? { atomic: true } : {}),
    });
  }
  return [
    "// Generated from proto/facts/openapi.json by proto/tools. Changes here are lost.",
    'import type { SchemaSet } from "../schema.ts";',
    "",
    `/** Schema of ${request.roots.map((root) => locateType(root).name).join(", ")} and of all they contain. */`,
    `export const ${request.exportName}: SchemaSet = {`,
    ...[...objects]
      .sort(([x], [y]) => (x < y ? -1 : 1))
      .map(([name, object]) => `  ${JSON.stringify(name)}: ${JSON.stringify(object)},`),
    "};",
    "",
  ].join("\n");
}

function describeField(fact: PropertyFact, visit: (definition: string) => void): object {
  const isList = fact.type === "array" && fact.items !== undefined;
  const isMap = fact.type === "object" && fact.additionalProperties !== undefined;
  const inner = (isList ? fact.items : isMap ? fact.additionalProperties : fact) ?? fact;
  const keys = fact["x-kubernetes-list-map-keys"];
  const mergeKey = fact["x-kubernetes-patch-merge-key"];
  const patch = fact["x-kubernetes-patch-strategy"];
  return {
    ...describeValue(inner, visit),
    ...(isList ? { list: fact["x-kubernetes-list-type"] ?? "atomic" } : {}),
    ...(keys === undefined ? {} : { keys }),
    ...(isMap ? { map: true } : {}),
    ...(mergeKey === undefined ? {} : { mergeKey }),
    ...(patch === undefined ? {} : { patch: patch.split(",") }),
  };
}

function describeValue(fact: PropertyFact, visit: (definition: string) => void): object {
  if (fact.$ref !== undefined) {
    const target = refTarget(fact.$ref);
    const short = locateType(target).name;
    const scalar = scalarKinds[short];
    if (scalar !== undefined) {
      return { type: scalar };
    }
    visit(target);
    return { type: "object", of: short };
  }
  switch (fact.type) {
    case "integer":
      return { type: fact.format === "int64" ? "int64" : "int32" };
    case "string":
      return { type: fact.format === "byte" ? "bytes" : "string" };
    case "boolean":
      return { type: "boolean" };
    case "object":
      return { type: "any" };
    default:
      throw new Error(`a field of type ${String(fact.type)} cannot be put into a schema`);
  }
}
