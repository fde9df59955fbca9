/** Writes TypeScript types for Kubernetes objects from the OpenAPI facts. */
import {
  locateType,
  type OpenApiFacts,
  type PropertyFact,
  refTarget,
  scalarTypes,
  type TypeLocation,
} from "./openapi.ts";

/**
 * Times that Go holds by value: a zero one is written as null, so that null is what a reader may meet.
 * Every other time is left out when it is not set.
 */
const nullableTimes: ReadonlySet<string> = new Set([
  "ObjectMeta.creationTimestamp",
  "PodCondition.lastProbeTime",
  "PodCondition.lastTransitionTime",
  "NodeCondition.lastHeartbeatTime",
  "NodeCondition.lastTransitionTime",
  "ContainerStateRunning.startedAt",
  "ContainerStateTerminated.startedAt",
  "ContainerStateTerminated.finishedAt",
  "Event.firstTimestamp",
  "Event.lastTimestamp",
  "Event.eventTime",
]);

const header = "// Generated from proto/facts/openapi.json by proto/tools. Changes here are lost.\n";

/** One output file. */
interface FileDraft {
  readonly imports: Map<string, Set<string>>;
  readonly bodies: string[];
}

/**
 * Renders one file per API group and version, keyed by file name.
 * Every field that the API does not require is optional; int64 is `number | bigint`; times stay strings.
 */
export function renderTypes(facts: OpenApiFacts): Map<string, string> {
  const drafts = new Map<string, FileDraft>();
  for (const name of Object.keys(facts.definitions).sort()) {
    const location = locateType(name);
    if (location.file === "scalars") {
      continue;
    }
    let draft = drafts.get(location.file);
    if (draft === undefined) {
      draft = { imports: new Map(), bodies: [] };
      drafts.set(location.file, draft);
    }
    draft.bodies.push(renderType({ facts, definition: name, location, draft }));
  }
  const files = new Map<string, string>([["scalars.ts", renderScalars()]]);
  for (const [file, draft] of drafts) {
    files.set(`${file}.ts`, `${header}${renderImports(draft)}\n${draft.bodies.join("\n")}`);
  }
  return files;
}

function renderScalars(): string {
  const aliases = Object.entries(scalarTypes).map(
    ([name, { ts, doc }]) => `/** ${doc} */\nexport type ${name} = ${ts};\n`,
  );
  const int64 =
    "/** A 64-bit integer. Values beyond 2^53 are bigints, so that they survive a round trip. */\n" +
    "export type Int64 = number | bigint;\n";
  return `${header}\n${[...aliases, int64].join("\n")}`;
}

function renderImports(draft: FileDraft): string {
  return [...draft.imports]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, names]) => `import type { ${[...names].sort().join(", ")} } from "./${file}.ts";\n`)
    .join("");
}

interface TypeContext {
  readonly facts: OpenApiFacts;
  readonly definition: string;
  readonly location: TypeLocation;
  readonly draft: FileDraft;
}

function renderType(context: TypeContext): string {
  const definition = context.facts.definitions[context.definition];
  const required = new Set(definition?.required ?? []);
  const lines = [`/** \`${context.definition}\` */`, `export interface ${context.location.name} {`];
  for (const [property, fact] of Object.entries(definition?.properties ?? {})) {
    const nullable = nullableTimes.has(`${context.location.name}.${property}`) ? " | null" : "";
    const optional = required.has(property) ? "" : "?";
    lines.push(`  ${propertyKey(property)}${optional}: ${renderProperty(context, fact)}${nullable};`);
  }
  lines.push("}", "");
  return lines.join("\n");
}

function propertyKey(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function renderProperty(context: TypeContext, fact: PropertyFact): string {
  if (fact.$ref !== undefined) {
    return reference(context, locateType(refTarget(fact.$ref)));
  }
  switch (fact.type) {
    case "array": {
      const element = fact.items === undefined ? "unknown" : renderProperty(context, fact.items);
      return element.includes("|") ? `(${element})[]` : `${element}[]`;
    }
    case "object":
      return fact.additionalProperties === undefined
        ? "{ [key: string]: unknown }"
        : `{ [key: string]: ${renderProperty(context, fact.additionalProperties)} }`;
    case "integer":
      return fact.format === "int64" ? reference(context, { file: "scalars", name: "Int64" }) : "number";
    case "string":
    case "boolean":
    case "number":
      return fact.type;
    default:
      throw new Error(`${context.definition}: a property of unknown type ${String(fact.type)}`);
  }
}

function reference(context: TypeContext, target: TypeLocation): string {
  if (target.file !== context.location.file) {
    const names = context.draft.imports.get(target.file) ?? new Set();
    names.add(target.name);
    context.draft.imports.set(target.file, names);
  }
  return target.name;
}
