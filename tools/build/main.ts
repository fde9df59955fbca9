import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runCommand } from "../run-command.ts";
import { formatTable, type Row, takesColour } from "../table.ts";
import { bundleProgram } from "./bundle-program.ts";

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/** Folders of the packages that are published. */
function publishedPackages(): string[] {
  return readdirSync(`${root}/packages`)
    .map((name) => `packages/${name}`)
    .filter((dir) => existsSync(`${root}/${dir}/package.json`))
    .filter(
      (dir) =>
        (JSON.parse(readFileSync(`${root}/${dir}/package.json`, "utf8")) as { private?: boolean }).private !== true,
    );
}

/** JavaScript, declarations and source maps of every published package; the program is bundled on top. */
async function build(): Promise<Row[]> {
  const rows: Row[] = [];
  const step = async (name: string, action: () => Promise<string>): Promise<void> => {
    const started = performance.now();
    const note = await action();
    rows.push({ name, outcome: "passed", elapsedMs: performance.now() - started, note });
  };
  const dirs = publishedPackages();
  for (const dir of dirs) {
    rmSync(`${root}/${dir}/dist`, { recursive: true, force: true });
    // npm packs the licence that lies beside the package.json, and follows no link to it.
    copyFileSync(`${root}/LICENSE`, `${root}/${dir}/LICENSE`);
  }
  await step("packages", async () => {
    const compiler = await runCommand([`${root}/node_modules/.bin/tsc`, "-b", ...dirs], { cwd: root });
    if (compiler.code !== 0) {
      throw new Error(`the sources do not compile:\n${compiler.output}`);
    }
    return `${dirs.length} packages: JavaScript, declarations, source maps in packages/*/dist`;
  });
  await step("program", async () => {
    const { path, bytes, modules } = await bundleProgram(root);
    return `${path}, ${Math.round(bytes / 1024)} KiB from ${modules} modules`;
  });
  return rows;
}

try {
  console.log(formatTable(await build(), { colour: takesColour(process.stdout) }));
} catch (problem) {
  console.error(problem instanceof Error ? problem.message : problem);
  process.exitCode = 1;
}
