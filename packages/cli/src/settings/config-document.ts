import { decodeObject, type FieldSchema, NodeletError, type SchemaSet } from "@nodelet/core";
import { type ConfigTree, valueAt } from "./config-tree.ts";
import type { Setting } from "./setting.ts";
import { type SettingKey, type Settings, settingEntries } from "./settings-table.ts";

const API_VERSION = "kubelet.config.k8s.io/v1beta1";
const KIND = "KubeletConfiguration";

/** One configuration file, decoded: every value is of its type and passed its check. */
export interface ConfigDocument {
  readonly value: ConfigTree;
  readonly nulls: readonly (readonly string[])[];
  /** Unknown fields and keys written twice, with their places. */
  readonly warnings: readonly string[];
}

type FieldSetting = Setting<unknown> & { readonly field: string };

const fieldSettings: readonly (readonly [SettingKey, FieldSetting])[] = settingEntries.flatMap(([key, setting]) =>
  setting.field === undefined ? [] : [[key, { ...setting, field: setting.field }] as const],
);
const schemas = schemaOf(fieldSettings.map(([, { field, kind }]) => [field, kind.schema]));

/**
 * Decodes a KubeletConfiguration. Unknown fields are warnings; a wrong type or a value out of range throws `invalid` that names the file, line,
 * column and field.
 */
export function decodeConfig(input: { readonly bytes: Uint8Array | string; readonly source: string }): ConfigDocument {
  const { value, nulls, warnings, locate } = decodeObject({
    ...input,
    apiVersion: API_VERSION,
    kinds: [KIND],
    schemas,
  });
  for (const [, setting] of fieldSettings) {
    const given = valueAt(value, setting.field);
    if (given === undefined) continue;
    const problem = problemOf(setting, given);
    if (problem !== undefined)
      throw new NodeletError("invalid", `${locate(setting.field)}: ${setting.field}: ${problem}`);
  }
  return { value, nulls, warnings };
}

/** The settings that a decoded tree gives. */
export function settingsOf(tree: ConfigTree): Partial<Settings> {
  const values = fieldSettings.flatMap(([key, { field, kind }]) => {
    const given = valueAt(tree, field);
    return given === undefined ? [] : [[key, kind.fromFile(given)] as const];
  });
  return Object.fromEntries(values) as Partial<Settings>;
}

function problemOf(setting: FieldSetting, given: unknown): string | undefined {
  const value = setting.kind.fromFile(given);
  if (value !== undefined) return setting.check?.(value);
  const found = typeof given === "string" ? JSON.stringify(given.slice(0, 200)) : `a value of another form`;
  return `expected ${setting.kind.expectedInFile ?? setting.kind.expected}, found ${found}`;
}

/** Object types from paths: `a.b` makes an object `a` with the field `b`. */
function schemaOf(fields: readonly (readonly [path: string, schema: FieldSchema])[]): SchemaSet {
  const types = new Map<string, Map<string, FieldSchema>>([[KIND, new Map()]]);
  const typeNamed = (name: string): Map<string, FieldSchema> => {
    const known = types.get(name) ?? new Map<string, FieldSchema>();
    types.set(name, known);
    return known;
  };
  typeNamed(KIND).set("apiVersion", { type: "string" }).set("kind", { type: "string" });
  for (const [path, schema] of fields) {
    const parts = path.split(".");
    const last = parts.pop() ?? "";
    let owner = KIND;
    for (const part of parts) {
      const inner = `${owner}.${part}`;
      typeNamed(owner).set(part, { type: "object", of: inner });
      owner = inner;
    }
    typeNamed(owner).set(last, schema);
  }
  return Object.fromEntries(
    [...types].map(([name, entries]) => [name, { fields: Object.fromEntries(entries), required: [] }]),
  );
}
