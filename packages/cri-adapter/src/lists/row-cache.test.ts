import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Container,
  ContainerSchema,
  ContainerState,
  ListContainersResponseSchema,
} from "../gen/runtime/v1/api_pb.ts";
import { RowCache } from "./row-cache.ts";

type Row = MessageInitShape<typeof ContainerSchema>;

const answerOf = (rows: readonly Row[]): Buffer =>
  Buffer.from(toBinary(ListContainersResponseSchema, create(ListContainersResponseSchema, { containers: [...rows] })));

function newCache(): { readonly cache: RowCache<Container>; readonly decoded: string[] } {
  const decoded: string[] = [];
  const cache = new RowCache<Container>({
    idField: 1,
    mapFields: new Set([8, 9]),
    decode: (bytes) => {
      const row = fromBinary(ContainerSchema, bytes);
      decoded.push(row.id);
      return row;
    },
  });
  return { cache, decoded };
}

const web: Row = {
  id: "a",
  podSandboxId: "s",
  state: ContainerState.CONTAINER_RUNNING,
  labels: { x: "1", y: "2", z: "3" },
};

describe("a row", () => {
  it.each<[string, Row, boolean]>([
    ["the same", web, true],
    ["entries of a map in another order", { ...web, labels: { z: "3", x: "1", y: "2" } }, true],
    ["another state", { ...web, state: ContainerState.CONTAINER_EXITED }, false],
    ["another value in a map", { ...web, labels: { x: "1", y: "2", z: "4" } }, false],
    ["values of a map changed over", { ...web, labels: { x: "2", y: "1", z: "3" } }, false],
    ["the same entry in another map", { ...web, labels: { x: "1", y: "2" }, annotations: { z: "3" } }, false],
    ["one field more", { ...web, imageRef: "i" }, false],
    ["a field of the same length", { ...web, podSandboxId: "t" }, false],
  ])("is decoded again only when it differs: %s", (_, next, same) => {
    const { cache, decoded } = newCache();
    const [first] = cache.read(answerOf([web]), { whole: true });
    const [second] = cache.read(answerOf([next]), { whole: true });
    expect(second).toEqual(create(ContainerSchema, next));
    expect(second === first).toBe(same);
    expect(decoded).toEqual(same ? ["a"] : ["a", "a"]);
  });

  it("is forgotten when a whole list lacks it, not when a part of one does", () => {
    const { cache, decoded } = newCache();
    const both = answerOf([web, { id: "b" }]);
    cache.read(both, { whole: true });
    cache.read(answerOf([{ id: "b" }]), { whole: false });
    cache.read(both, { whole: false });
    expect(decoded).toEqual(["a", "b"]);
    cache.read(answerOf([{ id: "b" }]), { whole: true });
    cache.read(both, { whole: true });
    expect(decoded).toEqual(["a", "b", "a"]);
  });

  it("without an id is never taken for another one", () => {
    const { cache } = newCache();
    const rows = cache.read(answerOf([{ image: { image: "i" } }, { image: { image: "j" } }]), { whole: true });
    expect(rows.map((row) => row.image?.image)).toEqual(["i", "j"]);
  });
});

it("reads what protobuf reads, whatever came before", () => {
  const row = fc.record({
    id: fc.constantFrom("a", "b", "c"),
    state: fc.constantFrom(0, 1, 2),
    labels: fc.dictionary(fc.constantFrom("k", "l", "m"), fc.constantFrom("", "v", "w"), { noNullPrototype: true }),
    annotations: fc.dictionary(fc.constantFrom("k", "l"), fc.constantFrom("v", "w"), { noNullPrototype: true }),
    createdAt: fc.constantFrom(0n, 1n, 2n ** 62n),
  });
  const lists = fc.array(fc.tuple(fc.uniqueArray(row, { selector: ({ id }) => id }), fc.boolean()), { maxLength: 6 });
  fc.assert(
    fc.property(lists, (answers) => {
      const { cache } = newCache();
      for (const [rows, whole] of answers) {
        const expected = rows.map((init) => create(ContainerSchema, init));
        expect(cache.read(answerOf(rows), { whole })).toEqual(expected);
      }
    }),
  );
});

function outcomeOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

it("refuses bytes that are no list, and ends", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      // Bytes that look like a list may hold a row that is none: protobuf refuses that itself.
      const outcome = outcomeOf(() => newCache().cache.read(Buffer.from(bytes), { whole: true }));
      expect(outcome instanceof Error || Array.isArray(outcome)).toBe(true);
    }),
  );
  expect(() => newCache().cache.read(Buffer.from([0x0a, 0x05, 0x01]), { whole: true })).toThrow(
    "the runtime's answer is no protobuf message",
  );
});
