import { describe, expect, it } from "vitest";
import { checkCycles } from "./rule-cycles.ts";
import { makeTree } from "./tree.test-support.ts";

const ring = (dir: string, keyword: string) => ({
  [`${dir}/src/a.ts`]: `${keyword} { b } from "./b.ts";\nexport const a = 1;\n`,
  [`${dir}/src/b.ts`]: `${keyword} { c } from "./deep/c.ts";\nexport const b = 1;\n`,
  [`${dir}/src/deep/c.ts`]: `${keyword} { a } from "../a.ts";\nexport const c = 1;\n`,
});

describe("import cycles", () => {
  it("names every file of a cycle, once", () => {
    const findings = checkCycles(makeTree(ring("packages/host-adapter", "import")));
    const path = (name: string) => `packages/host-adapter/src/${name}.ts`;
    expect(findings).toHaveLength(1);
    expect(findings[0]?.file).toBe(path("a"));
    expect(findings[0]?.message).toContain([path("a"), path("b"), path("deep/c"), path("a")].join(" -> "));
  });

  it("counts imports of types in core, and only there", () => {
    expect(checkCycles(makeTree(ring("packages/core", "import type")))).toHaveLength(1);
    expect(checkCycles(makeTree(ring("packages/host-adapter", "import type")))).toEqual([]);
  });

  it("leaves a diamond alone", () => {
    const files = {
      "packages/core/src/top.ts": 'import "./left.ts";\nimport "./right.ts";\n',
      "packages/core/src/left.ts": 'import "./base.ts";\n',
      "packages/core/src/right.ts": 'import "./base.ts";\n',
      "packages/core/src/base.ts": "export {};\n",
    };
    expect(checkCycles(makeTree(files))).toEqual([]);
  });

  it("sees a file that imports itself", () => {
    expect(
      checkCycles(makeTree({ "packages/core/src/a.ts": 'import * as self from "./a.ts";\nexport const x = self;\n' })),
    ).toHaveLength(1);
  });
});
