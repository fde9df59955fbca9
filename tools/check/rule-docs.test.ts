import { expect, it } from "vitest";
import { checkDocs } from "./rule-docs.ts";
import { makeTree } from "./tree.test-support.ts";

const found = (text: string, path = "packages/core/src/a.ts") =>
  checkDocs(makeTree({ [path]: text })).map((finding) => `${finding.line} ${finding.message.split(" ")[0]}`);

it.each([
  ["export const a = 1;\n", ["1 a"]],
  ["// not a doc comment\nexport function a(): void {}\n", ["2 a"]],
  ["/* nor this */\nexport interface A {}\n", ["2 A"]],
  ["/** of another one */\nconst b = 1;\nexport class A { b = b }\n", ["3 A"]],
  ["/** documented */\nexport const a = 1;\nexport const b = 2;\n", ["3 b"]],
])("finds what has no doc comment: %j", (text, expected) => {
  expect(found(text)).toEqual(expected);
});

it.each([
  "/** Said. */\nexport const a = 1;\n",
  "/**\n * Said,\n * at length.\n */\nexport async function a(): Promise<void> {}\n",
  "/** Said where it is declared. */\nconst a = 1;\nexport { a };\n",
  "/** Said once. */\nexport function a(x: string): void;\nexport function a(x: number): void;\nexport function a(): void {}\n",
  'export { x } from "./x.ts";\nexport * from "./y.ts";\n',
])("takes %j", (text) => {
  expect(found(text)).toEqual([]);
});

it("asks nothing of tests and generated files", () => {
  expect(found("export const a = 1;\n", "packages/core/src/a.test-support.ts")).toEqual([]);
  expect(found("export const a = 1;\n", "packages/core/src/gen/a.ts")).toEqual([]);
});
