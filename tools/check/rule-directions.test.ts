import { describe, expect, it } from "vitest";
import { checkDirections } from "./rule-directions.ts";
import { makeTree } from "./tree.test-support.ts";

/** One file with one import: what the rule says of it. */
function objections(path: string, specifier: string): string[] {
  return checkDirections(makeTree({ [path]: `import { x } from "${specifier}";\nx();\n` })).map(
    (finding) => finding.message,
  );
}

describe("import directions", () => {
  it.each([
    ["packages/core/src/a.ts", "node:fs", "core imports nothing of Node.js"],
    ["packages/core/src/a.ts", "fs", "core imports nothing of Node.js"],
    ["packages/core/src/a.ts", "fs/promises", "core imports nothing of Node.js"],
    ["packages/core/src/a.ts", "@nodelet/lib-native", "core may not import @nodelet/lib-native"],
    ["packages/core/src/a.ts", "@nodelet/testkit", "core may not import @nodelet/testkit"],
    ["packages/core/src/a.ts", "lodash", "not lodash"],
    ["packages/core/src/a.ts", "inversify", "only packages/cli may import inversify"],
    ["packages/testkit/src/a.ts", "@nodelet/cri-adapter", "testkit may not import"],
    ["packages/cri-adapter/src/a.ts", "@nodelet/host-adapter", "an adapter may not import @nodelet/host-adapter"],
    ["packages/cri-adapter/src/a.ts", "@nodelet/testkit", "an adapter may not import @nodelet/testkit"],
    ["packages/cri-adapter/src/a.test.ts", "@nodelet/host-adapter", "an adapter may not import"],
    ["packages/cri-adapter/src/a.test.ts", "@nodelet/dev-node", "an adapter may not import"],
    ["packages/lib-native/src/a.ts", "@nodelet/core", "a lib package may not import @nodelet/core"],
    ["packages/lib-native/src/a.test.ts", "@nodelet/core", "a lib package may not import @nodelet/core"],
    ["packages/host-adapter/src/a.ts", "reflect-metadata", "only packages/cli may import reflect-metadata"],
    ["packages/cri-adapter/src/a.ts", "@nodelet/core/src/plan.ts", "is not among the exports"],
    ["packages/cri-adapter/src/a.ts", "../../core/src/plan.ts", "leaves the package"],
    ["scripts/a.ts", "../packages/cli/src/main.ts", "leaves the package"],
    ["packages/cli/src/a.ts", "@nodelet/dev-node", "is published and @nodelet/dev-node is not"],
    ["packages/cli/src/a.ts", "@nodelet/nowhere", "is not a package of this workspace"],
    ["packages/cli/src/a.ts", "@nodelet/cli", "imports itself by name"],
  ])("%s may not import %s", (path, specifier, expected) => {
    expect(objections(path, specifier)).toEqual([expect.stringContaining(expected)]);
  });

  it.each([
    ["packages/core/src/a.ts", "./b.ts"],
    ["packages/core/src/a.test.ts", "node:fs"],
    ["packages/core/src/a.test.ts", "@nodelet/testkit"],
    ["packages/testkit/src/a.ts", "@nodelet/core"],
    ["packages/cri-adapter/src/a.ts", "@nodelet/core"],
    ["packages/cri-adapter/src/a.ts", "@nodelet/lib-native"],
    ["packages/cri-adapter/src/a.ts", "@grpc/grpc-js"],
    ["packages/cri-adapter/src/a.test.ts", "@nodelet/testkit"],
    ["packages/cri-adapter/src/a.e2e.test.ts", "@nodelet/dev-node"],
    ["packages/cli/src/a.ts", "inversify"],
    ["packages/cli/src/a.ts", "@nodelet/host-adapter"],
    ["packages/dev-node/src/a.ts", "@nodelet/cli"],
    ["tools/a.ts", "./b.ts"],
  ])("%s may import %s", (path, specifier) => {
    expect(objections(path, specifier)).toEqual([]);
  });

  it.each([
    ['export * from "node:fs";\n', 1],
    ['const x = 1;\nexport const fs = await import("node:fs");\nexport { x };\n', 2],
    ['export type T = import("node:fs").Stats;\n', 1],
  ])("finds every form of an import: %j", (text, line) => {
    const findings = checkDirections(makeTree({ "packages/core/src/a.ts": text }));
    expect(findings).toEqual([expect.objectContaining({ file: "packages/core/src/a.ts", line, severity: "error" })]);
  });

  it("takes no import from a comment or from the text of a string", () => {
    const text = '// import("node:fs")\nexport const s = "import x from \'node:fs\'";\n';
    expect(checkDirections(makeTree({ "packages/core/src/a.ts": text }))).toEqual([]);
  });
});
