import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Each file breaks one rule: the rule that must object to it. */
const violations: Record<string, { text: string; rule: string }> = {
  "packages/core/src/clock.ts": { text: "export const now = () => new Date();\n", rule: "no-restricted-globals" },
  "packages/core/src/date-now.ts": { text: "export const now = () => Date.now();\n", rule: "no-restricted-globals" },
  "packages/core/src/timer.ts": { text: "setTimeout(() => undefined, 1);\n", rule: "no-restricted-globals" },
  "packages/core/src/interval.ts": { text: "setInterval(() => undefined, 1);\n", rule: "no-restricted-globals" },
  "packages/core/src/process.ts": { text: "export const pid = process.pid;\n", rule: "no-restricted-globals" },
  "packages/core/src/buffer.ts": { text: 'export const bytes = Buffer.from("x");\n', rule: "no-restricted-globals" },
  "packages/core/src/random.ts": { text: "export const x = Math.random();\n", rule: "no-restricted-properties" },
  "packages/core/src/deadline.ts": {
    text: "export const signal = AbortSignal.timeout(1000);\n",
    rule: "no-restricted-properties",
  },
  "packages/core/src/node.ts": {
    text: 'import { sep } from "node:path";\nexport const x = sep;\n',
    rule: "no-restricted-imports",
  },
  "packages/host/src/any.ts": { text: "export function f(x: any): void {\n  x();\n}\n", rule: "no-explicit-any" },
  "packages/host/src/floating.ts": {
    text: "async function f(): Promise<void> {}\nexport function g(): void {\n  f();\n}\n",
    rule: "no-floating-promises",
  },
  "packages/host/src/misused.ts": {
    text: "export function f(x: Promise<boolean>): number {\n  if (x) {\n    return 1;\n  }\n  return 2;\n}\n",
    rule: "no-misused-promises",
  },
  "packages/host/src/switch.ts": {
    text: 'export function f(x: "a" | "b"): number {\n  switch (x) {\n    case "a":\n      return 1;\n  }\n  return 2;\n}\n',
    rule: "switch-exhaustiveness-check",
  },
  "packages/host/src/throw.ts": {
    text: 'export function f(): never {\n  throw "text";\n}\n',
    rule: "only-throw-error",
  },
  "packages/host/src/default.ts": { text: "export default 1;\n", rule: "no-default-export" },
  "packages/host/src/comment.ts": { text: "// TODO: later\nexport const x = 1;\n", rule: "no-warning-comments" },
  "packages/host/src/equal.ts": { text: "export const f = (x: unknown) => x == 1;\n", rule: "eqeqeq" },
  "packages/host/src/namespace.ts": { text: "export namespace N {\n  export const x = 1;\n}\n", rule: "no-namespace" },
  "packages/host/src/parameters.ts": {
    text: "export const f = (a: number, b: string, c: boolean, d: bigint, e: symbol) => [a, b, c, d, e];\n",
    rule: "max-params",
  },
  "packages/host/src/skipped.test.ts": {
    text: 'import { expect, it } from "vitest";\nit.skip("x", () => {\n  expect(1).toBe(1);\n});\n',
    rule: "no-disabled-tests",
  },
  "packages/host/src/only.test.ts": {
    text: 'import { expect, it } from "vitest";\nit.only("x", () => {\n  expect(1).toBe(1);\n});\n',
    rule: "no-focused-tests",
  },
  "packages/host/src/nothing.test.ts": {
    text: 'import { it } from "vitest";\nit("x", () => {\n  [1].map(String);\n});\n',
    rule: "expect-expect",
  },
};

/** What is allowed, although it comes close. */
const clean: Record<string, string> = {
  "packages/core/src/allowed.ts":
    "export const abort = new AbortController();\nexport const url = new URL('unix:///x');\nexport const bytes = new TextEncoder().encode('x');\n",
  "packages/core/src/with-node.test.ts":
    'import { readFileSync } from "node:fs";\nimport { expect, it } from "vitest";\nit("reads", () => {\n  expect(readFileSync(process.execPath).length).toBeLessThan(Date.now());\n});\n',
  "packages/host/src/clock.ts": "export const now = () => Date.now() + Math.random();\n",
};

let folder: string;
let messages: Map<string, string[]>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "nodelet-lint-"));
  const compilerOptions = {
    strict: true,
    target: "es2024",
    module: "nodenext",
    lib: ["es2024", "dom"],
    types: [],
    noEmit: true,
  };
  const files: Record<string, string> = {
    "tsconfig.json": JSON.stringify({ compilerOptions, include: ["packages"] }),
    ...clean,
    ...Object.fromEntries(Object.entries(violations).map(([path, { text }]) => [path, text])),
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  copyFileSync(join(root, ".oxlintrc.json"), join(folder, ".oxlintrc.json"));
  // oxlint looks for its type-aware half beside the folder that it lints.
  const env = { ...process.env, OXLINT_TSGOLINT_PATH: join(root, "node_modules/.bin/tsgolint") };
  const run = await promisify(execFile)(join(root, "node_modules/.bin/oxlint"), ["--format=json"], {
    cwd: folder,
    env,
  }).catch((failure: { stdout: string }) => failure);
  messages = new Map();
  for (const diagnostic of (JSON.parse(run.stdout) as { diagnostics: { code: string; filename: string }[] })
    .diagnostics) {
    messages.set(diagnostic.filename, [...(messages.get(diagnostic.filename) ?? []), diagnostic.code]);
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("lint rules", () => {
  it.each(Object.entries(violations).map(([path, { rule }]) => [path, rule]))("%s breaks %s", (path, rule) => {
    expect(messages.get(path)?.join(" ") ?? "nothing found").toContain(`(${rule})`);
  });

  it.each(Object.keys(clean))("%s breaks nothing", (path) => {
    expect(messages.get(path)).toBeUndefined();
  });
});
