import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import { type OutputChunk, rolldown } from "rolldown";
import { asciiText, leanBuiltins, standIns } from "./bundle-plugins.ts";

/** What was written. */
export interface BundledProgram {
  /** From the repository's root. */
  path: string;
  bytes: number;
  modules: number;
}

/** What the program needs little or nothing of, and would pay for. */
const standInSources = {
  // Loaded by grpc-js on demand, for services of its own that the program does not offer: 230 kB of source.
  "@grpc/proto-loader":
    "module.exports = { loadSync() { throw new Error('@grpc/proto-loader is not in this bundle'); } };",
  // Lays out --help, which is ASCII. The real one makes an Intl.Segmenter when it is loaded: 2.7 MB of memory.
  "string-width":
    "import { stripVTControlCharacters } from 'node:util';\nexport default (text) => stripVTControlCharacters(text).length;",
};

/**
 * Bundles the program, from the sources of all packages, into the one file packages/cli/dist/nodelet.js, with a source
 * map and the licences of all that came from outside. Modules that are imported dynamically stay unevaluated until then.
 * @throws Error when something cannot be resolved: the bundle must run with nothing installed beside it.
 */
export async function bundleProgram(root: string): Promise<BundledProgram> {
  const outFolder = `${root}/packages/cli/dist`;
  const unresolved: string[] = [];
  const build = await rolldown({
    input: { nodelet: `${root}/packages/cli/src/main.ts` },
    platform: "node",
    cwd: root,
    plugins: [leanBuiltins(), standIns(standInSources)],
    resolve: { conditionNames: ["nodelet-source", "node", "import", "module", "default"] },
    treeshake: {
      moduleSideEffects: (id) => !id.includes("/packages/") || id.endsWith("/cli/src/main.ts"),
      propertyReadSideEffects: false,
    },
    onLog(level, log, write) {
      if (log.code === "UNRESOLVED_IMPORT") unresolved.push(log.message);
      else write(level, log);
    },
  });
  try {
    const { output } = await build.write({
      dir: outFolder,
      format: "esm",
      entryFileNames: "[name].js",
      sourcemap: true,
      codeSplitting: false,
      // Names stay: a stack trace must tell where it was.
      minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
      plugins: [asciiText()],
      comments: { legal: false, jsdoc: false, annotation: false },
    });
    if (unresolved.length > 0) {
      throw new Error(`the program cannot be bundled:\n${unresolved.join("\n")}`);
    }
    const [chunk] = output.filter((entry): entry is OutputChunk => entry.type === "chunk");
    if (chunk === undefined) {
      throw new Error("the bundler wrote no program");
    }
    writeFileSync(`${outFolder}/third-party-licences.txt`, collectLicences(chunk.moduleIds));
    return { path: "packages/cli/dist/nodelet.js", bytes: chunk.code.length, modules: chunk.moduleIds.length };
  } finally {
    await build.close();
  }
}

/** The licence texts of the packages that the modules came from, each under the package's name and version. */
function collectLicences(moduleIds: readonly string[]): string {
  const folders = new Set(moduleIds.filter((id) => id.includes("/node_modules/")).map(packageFolder));
  const sections = [...folders].sort().map((folder) => {
    const manifest = JSON.parse(readFileSync(`${folder}/package.json`, "utf8")) as {
      name: string;
      version: string;
      license?: string;
    };
    const files = readdirSync(folder).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name));
    const texts = files.map((name) => readFileSync(`${folder}/${name}`, "utf8").trim());
    return `${manifest.name} ${manifest.version} (${manifest.license ?? "licence in its text"})\n\n${texts.join("\n\n")}`;
  });
  return `${sections.join(`\n\n${"-".repeat(78)}\n\n`)}\n`;
}

function packageFolder(moduleId: string): string {
  let folder = dirname(moduleId.replace(/^\0/, "").replace(/\?.*$/, ""));
  while (!existsSync(`${folder}/package.json`) || !hasName(folder)) {
    const parent = dirname(folder);
    if (parent === folder || relative(parent, folder) === "node_modules") {
      throw new Error(`${moduleId} belongs to no package`);
    }
    folder = parent;
  }
  return folder;
}

/** Some packages mark a folder as ES modules with a package.json that names nothing. */
function hasName(folder: string): boolean {
  return (JSON.parse(readFileSync(`${folder}/package.json`, "utf8")) as { name?: string }).name !== undefined;
}
