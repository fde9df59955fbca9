import { expect, it } from "vitest";
import { checkSizes } from "./rule-sizes.ts";
import { makeTree } from "./tree.test-support.ts";

it.each([
  [400, []],
  [401, ["warning"]],
  [600, ["warning"]],
  [601, ["error"]],
])("a file of %i lines", (lines, severities) => {
  const workspace = makeTree({ "packages/core/src/long.ts": "export {};\n".repeat(1) + "//\n".repeat(lines - 1) });
  expect(checkSizes(workspace).map((finding) => finding.severity)).toEqual(severities);
});

it("does not count generated files and recorded data", () => {
  const long = "//\n".repeat(1000);
  const workspace = makeTree({ "packages/core/src/gen/api.ts": long, "packages/core/testdata/pods.ts": long });
  expect(checkSizes(workspace)).toEqual([]);
});
