import { readFileSync } from "node:fs";
import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { file_runtime_v1_api as file } from "./gen/runtime/v1/api_pb.ts";

/** The interface's facts, one row a method, enum value or field. */
const rows = readFileSync(new URL("../../../proto/facts/cri.tsv", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .slice(1);

function* messagesOf(messages: readonly DescMessage[]): Generator<DescMessage> {
  for (const message of messages) {
    yield message;
    yield* messagesOf(message.nestedMessages);
  }
}

const short = (typeName: string): string => typeName.replace(/^runtime\.v1\./, "");

function fieldType(field: DescField): string {
  if (field.fieldKind === "map") {
    const value = field.mapKind === "scalar" ? ScalarType[field.scalar].toLowerCase() : field.mapKind;
    return `map<${ScalarType[field.mapKey].toLowerCase()},${value}>`;
  }
  const { scalar, message, enum: enumeration } = field;
  if (scalar !== undefined) return ScalarType[scalar].toLowerCase();
  return short((message ?? enumeration)?.typeName ?? "");
}

function describedRows(): string[] {
  const result: string[] = [];
  const row = (...columns: (string | number)[]): number => result.push(columns.join("\t"));
  for (const service of file.services) {
    for (const method of service.methods) {
      const inbound =
        method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming" ? "stream " : "";
      const outbound =
        method.methodKind === "server_streaming" || method.methodKind === "bidi_streaming" ? "stream " : "";
      row(
        "rpc",
        service.name,
        method.name,
        "",
        `${inbound}${method.input.name} -> ${outbound}${method.output.name}`,
        "",
      );
    }
  }
  const messages = [...messagesOf(file.messages)];
  const enums: DescEnum[] = [...file.enums, ...messages.flatMap((message) => message.nestedEnums)];
  for (const enumeration of enums) {
    for (const value of enumeration.values) row("enum", short(enumeration.typeName), value.name, value.number, "", "");
  }
  for (const message of messages) {
    if (message.fields.length === 0) row("message", short(message.typeName), "", "", "", "");
    for (const field of message.fields) {
      const label = field.fieldKind === "map" ? "map" : field.fieldKind === "list" ? "repeated" : "";
      row("message", short(message.typeName), field.name, field.number, fieldType(field), label);
    }
  }
  return result;
}

describe("runtime/v1/api.proto", () => {
  it("says what the facts say, row by row, and nothing more", () => {
    expect(rows).toHaveLength(616);
    expect(describedRows().sort()).toEqual([...rows].sort());
  });

  it("is proto3 in the package that names the services on the wire", () => {
    expect(file.proto.package).toBe("runtime.v1");
    expect(file.proto.syntax).toBe("proto3");
  });

  it("has no field with presence of its own or in a oneof, which the wire form of the facts has not either", () => {
    for (const message of messagesOf(file.messages)) {
      expect(message.oneofs, message.typeName).toEqual([]);
      expect(message.fields.filter((field) => field.proto.proto3Optional)).toEqual([]);
    }
  });
});
