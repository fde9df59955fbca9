import { describe, expect, it } from "vitest";
import { checkDependencies } from "./rule-dependencies.ts";
import { type ManifestChanges, makeTree } from "./tree.test-support.ts";

const source = "packages/host-adapter/src/a.ts";
const use = (name: string) => `import { x } from "${name}";\nx();\n`;
const table = (rows: string) => `| package | version | used by |\n|---|---|---|\n${rows}`;
const found = (files: Record<string, string>, manifests: ManifestChanges = {}) =>
  checkDependencies(makeTree(files, manifests)).map((finding) => `${finding.file}: ${finding.message}`);
const host = (fields: object): ManifestChanges => ({ "@nodelet/host-adapter": fields });

describe("dependencies", () => {
  it("finds an import that the package does not declare, with its line", () => {
    expect(checkDependencies(makeTree({ [source]: use("left-pad") }))).toEqual([
      expect.objectContaining({ file: source, line: 1, message: expect.stringContaining("left-pad is imported") }),
    ]);
  });

  it("does not let a source file use what only the root or the tests declare", () => {
    const manifests = { ...host({ devDependencies: { "@nodelet/core": "0.1.0" } }) };
    expect(found({ [source]: use("@nodelet/core") }, manifests)).toEqual([
      expect.stringContaining("does not declare it"),
    ]);
    expect(found({ "packages/host-adapter/src/a.test.ts": use("@nodelet/core") }, manifests)).toEqual([]);
  });

  it("finds a declared package that nothing imports", () => {
    expect(found({}, host({ dependencies: { "@nodelet/core": "0.1.0" } }))).toEqual([
      "packages/host-adapter/package.json: @nodelet/core is declared and nothing imports it: take it out",
    ]);
  });

  it.each(["^1.2.3", "latest", "1.x", "workspace:*"])("does not take %s for an exact version", (range) => {
    const files = {
      [source]: use("left-pad"),
      "docs/dependencies.md": table(`| left-pad | ${range} | host-adapter |\n`),
    };
    expect(found(files, host({ dependencies: { "left-pad": range } }))).toEqual([
      expect.stringContaining("one exact version"),
    ]);
  });

  it.each(["workspace:*", "0.0.9"])("wants the workspace's own version of a sibling, not %s", (range) => {
    const manifests = host({ dependencies: { "@nodelet/core": range } });
    expect(found({ [source]: use("@nodelet/core") }, manifests)).toEqual([expect.stringContaining('must be "0.1.0"')]);
  });

  it("wants a row with the right version in the table, and no row too many", () => {
    const files = { [source]: use("left-pad") };
    const manifests = host({ dependencies: { "left-pad": "1.3.0" } });
    const withTable = (rows: string) => found({ ...files, "docs/dependencies.md": table(rows) }, manifests);
    expect(found(files, manifests)).toEqual([expect.stringContaining("left-pad has no row")]);
    expect(withTable("| `left-pad` | 1.2.0 | host-adapter |\n")).toEqual([
      expect.stringContaining("1.2.0 in the table"),
    ]);
    expect(withTable("| left-pad | 1.3.0 | x |\n| right-pad | 1.0.0 | x |\n")).toEqual([
      expect.stringContaining("right-pad has a row"),
    ]);
    expect(withTable("| `left-pad` | 1.3.0 | host-adapter |\n")).toEqual([]);
  });
});
