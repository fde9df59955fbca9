import { describe, expect, it } from "vitest";
import { partsBelow } from "./names.ts";
import { UnsafePathError } from "./unsafe-path-error.ts";

describe("partsBelow", () => {
  it.each([
    ["/r", "/r/a/b", ["a", "b"]],
    ["/r/", "/r/a", ["a"]],
    ["/", "/a", ["a"]],
  ])("%s %s", (root, path, parts) => {
    expect(partsBelow({ root, path })).toEqual(parts);
  });

  it.each([
    ["/r", "/r", "outside"],
    ["/r", "/rx/a", "outside"],
    ["/r", "a", "outside"],
    ["/r", "/r/../etc", "badName"],
    ["/r", "/r/a/./b", "badName"],
    ["/r", "/r//a", "badName"],
    ["/r", "/r/a/", "badName"],
    ["/r", "/r/a\0", "badName"],
  ])("refuses %s %j as %s", (root, path, problem) => {
    expect(() => partsBelow({ root, path })).toThrow(expect.objectContaining({ problem }));
  });
});

it("messages escape control characters and stay short", () => {
  const error = new UnsafePathError("badName", `/a\n\u001b[2J${"x".repeat(1000)}`, "bad");
  expect(error.message).toMatch(/^\/a\\x0a\\x1b\[2Jx+\.\.\.: bad$/);
  expect(error.message.length).toBeLessThan(530);
});
