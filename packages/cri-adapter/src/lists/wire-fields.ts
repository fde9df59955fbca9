import { NodeletError } from "@nodelet/core";

/** Where the fields of a protobuf message lie in its bytes: `[number, begin, contentBegin, end]` of each, one after the other in one array. */
export type FieldPlaces = readonly number[];

/** Numbers that one field takes in `FieldPlaces`. */
export const PLACE_SIZE = 4;

const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const FIXED32 = 5;

/**
 * Finds the top-level fields of the message between two offsets, without reading what is in them (protobuf encoding: a tag is number << 3 | wire
 * type). Throws `internal` for bytes that are no message.
 */
export function findFields(bytes: Buffer, range: { readonly begin: number; readonly end: number }): FieldPlaces {
  const places: number[] = [];
  const cursor = { at: range.begin };
  while (cursor.at < range.end) {
    const begin = cursor.at;
    const tag = readVarint(bytes, cursor);
    const contentBegin = skipField(bytes, cursor, tag & 7);
    if (cursor.at > range.end) throw damaged();
    places.push(tag >>> 3, begin, contentBegin, cursor.at);
  }
  return places;
}

/** Moves the cursor behind the field's content; answers where the content begins. */
function skipField(bytes: Buffer, cursor: { at: number }, wireType: number): number {
  switch (wireType) {
    case VARINT: {
      const begin = cursor.at;
      readVarint(bytes, cursor);
      return begin;
    }
    case LENGTH: {
      const length = readVarint(bytes, cursor);
      const begin = cursor.at;
      cursor.at += length;
      return begin;
    }
    case FIXED64:
      cursor.at += 8;
      return cursor.at - 8;
    case FIXED32:
      cursor.at += 4;
      return cursor.at - 4;
    default:
      throw damaged();
  }
}

/** Exact up to 2^53: tags and lengths are far below, and other values are only skipped. */
function readVarint(bytes: Buffer, cursor: { at: number }): number {
  let value = 0;
  for (let factor = 1, count = 0; count < 10; factor *= 128, count += 1) {
    const byte = bytes[cursor.at];
    if (byte === undefined) throw damaged();
    cursor.at += 1;
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) return value;
  }
  throw damaged();
}

function damaged(): NodeletError {
  return new NodeletError("internal", "the runtime's answer is no protobuf message");
}
