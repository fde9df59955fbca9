import { expect, it } from "vitest";
import { kindOfErrno } from "./errno.ts";

it.each([
  ["ENOENT", "notFound"],
  ["ENOTEMPTY", "conflict"],
  ["EROFS", "permission"],
  ["ENOSPC", "resourceExhausted"],
  ["ECONNREFUSED", "unavailable"],
  ["E2BIG", "internal"],
  ["toString", "internal"],
  [undefined, "internal"],
] as const)("%s is %s", (code, kind) => {
  expect(kindOfErrno(code)).toBe(kind);
});
