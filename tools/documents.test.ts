import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { type Document, fileLinksOf, readDocuments, snippetsOf } from "./documents.test-support.ts";
import { runCommand } from "./run-command.ts";

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
const MAX_PAGE_LINES = 120;

let documents: readonly Document[];
beforeAll(() => {
  documents = readDocuments(root);
});

/** Every entry that a package of the repository exports, by the name it is imported by, with its source. */
function sourcesOfPackages(): Record<string, string[]> {
  const paths: Record<string, string[]> = {};
  for (const folder of readdirSync(`${root}/packages`)) {
    const manifestPath = `${root}/packages/${folder}/package.json`;
    if (!existsSync(manifestPath)) continue;
    const { name, exports } = JSON.parse(readFileSync(manifestPath, "utf8")) as {
      name: string;
      exports: Record<string, { "nodelet-source"?: string }>;
    };
    for (const [entry, target] of Object.entries(exports)) {
      const source = target["nodelet-source"];
      if (source !== undefined) paths[`${name}${entry.slice(1)}`] = [`${root}/packages/${folder}/${source}`];
    }
  }
  return paths;
}

describe("the documents", () => {
  it("show TypeScript that compiles against the sources", { timeout: 120_000 }, async () => {
    const folder = `${root}/.cache/documents`;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const snippets = documents.flatMap(snippetsOf);
    expect(snippets.map(({ path }) => path)).toContain("README.md");
    const compilerOptions = { noEmit: true, composite: false, incremental: false, noUnusedLocals: false };
    writeFileSync(
      `${folder}/tsconfig.json`,
      JSON.stringify({
        extends: "../../tsconfig.checked.json",
        compilerOptions: { ...compilerOptions, rootDir: "../..", paths: sourcesOfPackages() },
        include: ["*.ts"],
      }),
    );
    for (const [index, { given, code }] of snippets.entries()) {
      writeFileSync(`${folder}/snippet-${index}.ts`, `${given}\n${code}\nexport {};\n`);
    }
    const { output } = await runCommand([`${root}/node_modules/.bin/tsc`, "-p", folder], { cwd: folder });
    const faults = [...output.matchAll(/^snippet-(\d+)\.ts\((\d+),\d+\): (.*)$/gm)].map(([, index, line, message]) => {
      const snippet = snippets[Number(index)];
      const ahead = (snippet?.given.split("\n").length ?? 0) + 1;
      return `${snippet?.path}:${(snippet?.line ?? 0) + Number(line) - ahead}: ${message}`;
    });
    expect(faults).toEqual([]);
  });

  it("link to files that are there", () => {
    const broken = documents.flatMap((document) =>
      fileLinksOf(document)
        .filter((target) => !existsSync(`${root}/${target}`))
        .map((target) => `${document.path}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it("name npm scripts that are there", () => {
    const { scripts } = JSON.parse(readFileSync(`${root}/package.json`, "utf8")) as { scripts: Record<string, string> };
    const unknown = documents
      .filter(({ path }) => !path.startsWith("examples/"))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/npm (?:run (\S+?)|(start|test))(?=[\s`.,:;)]|$)/g)]
          .map(([, run, short]) => run ?? short ?? "")
          .filter((name) => !(name in scripts))
          .map((name) => `${path}: npm run ${name}`),
      );
    expect(unknown).toEqual([]);
  });

  it(`are pages of at most ${MAX_PAGE_LINES} lines`, () => {
    const long = documents
      .filter(({ path }) => /^(docs\/[^/]+|[A-Z]+)\.md$/.test(path))
      .filter(({ text }) => text.split("\n").length > MAX_PAGE_LINES + 1)
      .map(({ path }) => path);
    expect(long).toEqual([]);
  });

  it("name flags that the program has", { timeout: 60_000 }, async () => {
    const program = [process.execPath, "--conditions=nodelet-source", `${root}/packages/cli/bin/nodelet.js`] as const;
    const helps = [
      await runCommand([...program, "--help"], { cwd: root }),
      await runCommand([...program, "pods", "--help"], { cwd: root }),
    ];
    const known = new Set(helps.flatMap(({ output }) => output.match(/--[a-z][a-z-]*/g) ?? []));
    expect(known).toContain("--pod-manifest-path");
    const page = documents.find(({ path }) => path === "docs/running.md")?.text ?? "";
    const named = page.replace(/^ +curl .*$/gm, "").match(/(?<![\w-])--[a-z][a-z-]+/g);
    expect(named).toContain("--take-over");
    expect([...new Set(named)].filter((flag) => !known.has(flag))).toEqual([]);
  });
});
