import { describe, expect, it } from "vitest";
import { checkDeadExports } from "./rule-dead-exports.ts";
import { makeTree } from "./tree.test-support.ts";

const dir = "packages/host-adapter/src";
const dead = (files: Record<string, string>) =>
  checkDeadExports(makeTree(files)).map((finding) => `${finding.line} ${finding.message}`);

describe("dead exports", () => {
  it("finds an export that nothing uses", () => {
    expect(dead({ [`${dir}/a.ts`]: "const x = 1;\nexport const y = x;\n" })).toEqual(["2 nothing uses y: take it out"]);
  });

  it("finds an export that only its own file uses", () => {
    expect(dead({ [`${dir}/a.ts`]: "export const y = 1;\ny.toFixed();\n" })).toEqual([
      "1 only this file uses y: drop the export",
    ]);
  });

  it("does not take a mention in a comment for a use", () => {
    expect(dead({ [`${dir}/a.ts`]: "// y is good\nexport const y = 1;\n" })).toEqual(["2 nothing uses y: take it out"]);
  });

  it("finds an export that only tests use", () => {
    const files = {
      [`${dir}/a.ts`]: "export const y = 1;\n",
      [`${dir}/a.test.ts`]: 'import { y } from "./a.ts";\ny.toFixed();\n',
    };
    expect(dead(files)).toEqual(["1 only tests use y: take it out"]);
    expect(dead({ ...files, [`${dir}/a.ts`]: "export const y = 1;\ny.toFixed();\n" })).toEqual([]);
  });

  it("keeps what the entry of a published package passes on, by whatever way", () => {
    const files = {
      [`${dir}/index.ts`]:
        'export { a as renamed } from "./a.ts";\nexport * from "./barrel.ts";\nexport const own = 1;\n',
      [`${dir}/a.ts`]: "export const a = 1;\nexport const notPassedOn = 2;\n",
      [`${dir}/barrel.ts`]: 'export * from "./b.ts";\n',
      [`${dir}/b.ts`]: "export interface B { c: number }\n",
    };
    expect(dead(files)).toEqual(["2 nothing uses notPassedOn: take it out"]);
  });

  it("in a private package, keeps only what another package imports", () => {
    const files = {
      "packages/dev-node/src/index.ts": 'export { used, unused } from "./a.ts";\n',
      "packages/dev-node/src/a.ts": "export const used = 1;\nexport const unused = 2;\n",
      "scripts/start.ts": 'import { used } from "@nodelet/dev-node";\nused.toFixed();\n',
    };
    expect(dead(files)).toEqual(["2 nothing uses unused: take it out"]);
  });

  it("keeps what tests share in a private package that exports nothing, and only that", () => {
    const files = {
      "e2e/harness/a.ts": "export const shared = 1;\nexport const left = 2;\n",
      "e2e/some.test.ts": 'import { shared } from "./harness/a.ts";\nshared.toFixed();\n',
    };
    expect(dead(files)).toEqual(["2 nothing uses left: take it out"]);
  });

  it("keeps a type that is part of another export's shape", () => {
    const files = {
      [`${dir}/index.ts`]: 'export { f } from "./a.ts";\n',
      [`${dir}/a.ts`]:
        "export interface Options { x: number }\nexport function f(options: Options): void { options.x.toFixed(); }\n",
    };
    expect(dead(files)).toEqual([]);
  });

  it("keeps what is imported as a namespace, dynamically or as a type", () => {
    const files = {
      [`${dir}/index.ts`]:
        'import * as all from "./a.ts";\nexport const r = [all, await import("./b.ts")];\nexport type T = import("./c.ts").C;\n',
      [`${dir}/a.ts`]: "export const a = 1;\n",
      [`${dir}/b.ts`]: "export const b = 1;\n",
      [`${dir}/c.ts`]: "export type C = 1;\n",
    };
    expect(dead(files)).toEqual([]);
  });
});
