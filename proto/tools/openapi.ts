/** The part of an OpenAPI v2 document that the Kubernetes facts use. */

/** A property, an array's items or a map's values. */
export interface PropertyFact {
  readonly $ref?: string;
  readonly type?: "string" | "boolean" | "integer" | "number" | "object" | "array";
  readonly format?: string;
  readonly items?: PropertyFact;
  readonly additionalProperties?: PropertyFact;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-patch-merge-key"?: string;
  readonly "x-kubernetes-patch-strategy"?: string;
}

/** One named type. */
export interface DefinitionFact {
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, PropertyFact>>;
  readonly required?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
}

/** facts/openapi.json. */
export interface OpenApiFacts {
  readonly kubernetes: string;
  readonly definitions: Readonly<Record<string, DefinitionFact>>;
}

/** Where a definition's TypeScript type lives. */
export interface TypeLocation {
  /** File name without extension, for example "core-v1". */
  readonly file: string;
  readonly name: string;
}

/** Definitions that are written by hand in the file "scalars", with their TypeScript form. */
export const scalarTypes: Readonly<Record<string, { ts: string; doc: string }>> = {
  Quantity: {
    ts: "string",
    doc: "An amount such as `100m` or `64Mi`. Decoding turns numbers into strings; see `Amount` for arithmetic.",
  },
  IntOrString: {
    ts: "number | string",
    doc: "A number or a string: a port by number or name, a count or a percentage.",
  },
  Time: { ts: "string", doc: "RFC 3339 time with whole seconds. Stays the string that came over the wire." },
  MicroTime: { ts: "string", doc: "RFC 3339 time with six digits of fraction." },
  RawExtension: { ts: "unknown", doc: "Any object; its type is not known here." },
  FieldsV1: { ts: "{ [key: string]: unknown }", doc: "A set of fields, as server-side apply writes it." },
};

const prefixes: readonly (readonly [RegExp, (match: RegExpMatchArray) => string])[] = [
  [/^io\.k8s\.api\.(\w+)\.(\w+)\.\w+$/, (match) => `${match[1]}-${match[2]}`],
  [/^io\.k8s\.apimachinery\.pkg\.apis\.meta\.(\w+)\.\w+$/, (match) => `meta-${match[1]}`],
  [/^io\.k8s\.apimachinery\.pkg\.(api\.resource|util\.intstr|runtime)\.\w+$/, () => "scalars"],
];

/**
 * Finds the file and the name of a definition's TypeScript type.
 * Throws when the definition belongs to no known package, so that new facts are not silently left out.
 */
export function locateType(definition: string): TypeLocation {
  const name = definition.slice(definition.lastIndexOf(".") + 1);
  if (Object.hasOwn(scalarTypes, name)) {
    return { file: "scalars", name };
  }
  for (const [pattern, file] of prefixes) {
    const match = definition.match(pattern);
    if (match !== null) {
      return { file: file(match), name };
    }
  }
  throw new Error(`${definition}: expected a name below io.k8s.api or io.k8s.apimachinery`);
}

/** Definition that a `$ref` names. */
export function refTarget(ref: string): string {
  return ref.slice(ref.lastIndexOf("/") + 1);
}
