import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { renderSchema } from "./kubernetes-schema.ts";
import { renderTypes } from "./kubernetes-types.ts";
import { locateType, type OpenApiFacts } from "./openapi.ts";

const facts = JSON.parse(readFileSync(new URL("../facts/openapi.json", import.meta.url), "utf8")) as OpenApiFacts;

const small: OpenApiFacts = {
  kubernetes: "v0",
  definitions: {
    "io.k8s.api.core.v1.Thing": {
      properties: {
        name: { type: "string" },
        big: { type: "integer", format: "int64" },
        small: { type: "integer", format: "int32" },
        data: { type: "object", additionalProperties: { type: "string", format: "byte" } },
        parts: {
          type: "array",
          items: { $ref: "#/definitions/io.k8s.api.core.v1.Part" },
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["key"],
          "x-kubernetes-patch-merge-key": "key",
          "x-kubernetes-patch-strategy": "merge,retainKeys",
        },
        sizes: { type: "array", items: { type: "integer", format: "int64" } },
        metadata: { $ref: "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" },
        "odd-name": { type: "boolean" },
      },
      required: ["name"],
    },
    "io.k8s.api.core.v1.Part": {
      properties: {
        key: { type: "string" },
        limit: { $ref: "#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity" },
      },
      "x-kubernetes-map-type": "atomic",
    },
    "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": {
      properties: {
        creationTimestamp: { $ref: "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Time" },
        deletionTimestamp: { $ref: "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Time" },
      },
    },
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": { type: "string", format: "date-time" },
    "io.k8s.apimachinery.pkg.api.resource.Quantity": { type: "string" },
  },
};

describe("types", () => {
  it("have required and optional fields, exact 64-bit integers and string times", () => {
    const files = renderTypes(small);
    expect(files.get("core-v1.ts")).toContain(
      [
        "export interface Thing {",
        "  name: string;",
        "  big?: Int64;",
        "  small?: number;",
        "  data?: { [key: string]: string };",
        "  parts?: Part[];",
        "  sizes?: Int64[];",
        "  metadata?: ObjectMeta;",
        '  "odd-name"?: boolean;',
        "}",
      ].join("\n"),
    );
    expect(files.get("core-v1.ts")).toContain('import type { ObjectMeta } from "./meta-v1.ts";');
    expect(files.get("meta-v1.ts")).toContain("  creationTimestamp?: Time | null;\n  deletionTimestamp?: Time;\n");
  });

  it("are written for every definition of the facts", () => {
    const text = [...renderTypes(facts).values()].join("\n");
    const count = text.match(/^export (interface|type) /gm)?.length ?? 0;
    // Int64 is ours; every other type stands for one definition.
    expect(count - 1).toBe(Object.keys(facts.definitions).length);
  });
});

describe("schema", () => {
  it("holds the closure of its roots with types, keys and merge rules", () => {
    const text = renderSchema({ facts: small, roots: ["io.k8s.api.core.v1.Thing"], exportName: "thing" });
    const body = text.slice(text.indexOf("= {") + 2, text.lastIndexOf(";")).replace(/,\n\}$/, "}");
    const schema = JSON.parse(body) as Record<string, { fields: Record<string, unknown> }>;
    expect(Object.keys(schema)).toEqual(["ObjectMeta", "Part", "Thing"]);
    expect(schema.Part).toEqual({
      fields: { key: { type: "string" }, limit: { type: "quantity" } },
      required: [],
      atomic: true,
    });
    expect(schema.Thing?.fields.parts).toEqual({
      type: "object",
      of: "Part",
      list: "map",
      keys: ["key"],
      mergeKey: "key",
      patch: ["merge", "retainKeys"],
    });
    expect(schema.Thing?.fields.sizes).toEqual({ type: "int64", list: "atomic" });
    expect(schema.Thing?.fields.data).toEqual({ type: "bytes", map: true });
    expect(schema.ObjectMeta?.fields.creationTimestamp).toEqual({ type: "time" });
  });

  it("refuses a closure in which one short name means two types", () => {
    const roots = ["io.k8s.api.core.v1.Event", "io.k8s.api.events.v1.Event"];
    expect(() => renderSchema({ facts, roots, exportName: "x" })).toThrow("share the short name Event");
  });
});

it("a definition outside the known packages is refused", () => {
  expect(() => locateType("com.example.Thing")).toThrow("com.example.Thing: expected a name below io.k8s.api");
});
