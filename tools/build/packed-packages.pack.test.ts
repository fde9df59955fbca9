import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { runCommand } from "../run-command.ts";
import { installPacked, succeed } from "./packed-project.test-support.ts";

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const rootManifest = JSON.parse(readFileSync(`${root}/package.json`, "utf8")) as {
  devDependencies: Record<string, string>;
};
// A project of somebody else knows nothing of this repository's conditions.
const env = { ...process.env, NODE_OPTIONS: "" };

const packed = inject("packed");
let project: string;
/** Every entry that the installed packages export, as it is imported. */
let specifiers: string[];

beforeAll(async () => {
  const { vitest, typescript } = rootManifest.devDependencies as Record<"vitest" | "typescript", string>;
  project = await installPacked(packed, {
    vitest,
    typescript,
    "@types/node": rootManifest.devDependencies["@types/node"] as string,
  });
  specifiers = packed.flatMap(({ name }) => {
    const manifest = JSON.parse(readFileSync(join(project, "node_modules", name, "package.json"), "utf8")) as {
      exports: object;
    };
    return Object.keys(manifest.exports)
      .filter((entry) => !entry.endsWith(".json"))
      .map((entry) => join(name, entry));
  });
});

afterAll(() => {
  if (project !== undefined) rmSync(project, { recursive: true });
});

describe("the packed packages", () => {
  it("hold what was built, and neither sources nor tests nor the compiler's notes", () => {
    for (const { name, files } of packed) {
      expect(files, name).toContain("package.json");
      expect(files, name).toContain("LICENSE");
      expect(
        files.filter((path) => /\.test\.|test-support|tsbuildinfo|^src\/|\.tgz$/.test(path)),
        name,
      ).toEqual([]);
    }
  });

  it("name one another by version, not by a place in a workspace", () => {
    for (const { name } of packed) {
      const manifest = readFileSync(join(project, "node_modules", name, "package.json"), "utf8");
      expect(manifest, name).not.toMatch(/"(workspace|link|file):/);
    }
  });

  it("export something from every entry, on plain Node.js", async () => {
    expect(specifiers).toContain("@nodelet/core");
    const suites = specifiers.filter((specifier) => importsVitest(specifier));
    const plain = specifiers.filter((specifier) => !suites.includes(specifier));
    const program = `for (const name of ${JSON.stringify(plain)}) console.log(name, Object.keys(await import(name)).length > 0);\n`;
    writeFileSync(join(project, "import-all.js"), program);
    const output = await succeed([process.execPath, "import-all.js"], { cwd: project, env });
    expect(output.trim().split("\n")).toEqual(plain.map((name) => `${name} true`));
  });

  it("declare types that a strict project accepts, every declaration checked", async () => {
    const lines = specifiers.map(
      (name, index) => `import * as m${index} from "${name}";\nexport type T${index} = keyof typeof m${index};`,
    );
    writeFileSync(join(project, "types.ts"), `${lines.join("\n")}\n`);
    const compilerOptions = {
      strict: true,
      noEmit: true,
      module: "nodenext",
      target: "es2024",
      types: ["node"],
      skipLibCheck: false,
    };
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["types.ts"] }));
    const { output } = await runCommand([join(project, "node_modules/.bin/tsc"), "-p", "."], { cwd: project, env });
    // Faults in the declarations of other projects are theirs.
    const ours = output.split("\n").filter((line) => line.includes("@nodelet") || line.startsWith("types.ts"));
    expect(ours).toEqual([]);
  });

  it.each(["nodelet", "kubelet"])("install the program %s, complete in one file", async (program) => {
    const cli = join(project, "node_modules/@nodelet/cli");
    const manifest = JSON.parse(readFileSync(join(cli, "package.json"), "utf8")) as { dependencies?: object };
    expect(manifest.dependencies).toBeUndefined();
    expect(existsSync(join(cli, "dist/nodelet.js.map"))).toBe(true);
    const output = await succeed([process.execPath, join(project, "node_modules/.bin", program), "--version"], {
      cwd: project,
      env,
    });
    expect(output).toContain("v1.36.2");
  });
});

/** Contract suites are written for vitest and cannot be imported outside of it. */
function importsVitest(specifier: string): boolean {
  const [scope, name, ...rest] = specifier.split("/");
  const folder = join(project, "node_modules", scope as string, name as string);
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    exports: Record<string, { default: string }>;
  };
  const entry = exports[rest.length === 0 ? "." : `./${rest.join("/")}`]?.default;
  return entry !== undefined && reaches(join(folder, entry), "vitest", new Set());
}

function reaches(file: string, target: string, seen: Set<string>): boolean {
  if (seen.has(file)) return false;
  seen.add(file);
  return [...readFileSync(file, "utf8").matchAll(/\bfrom\s+"([^"]+)"/g)].some(([, specifier]) =>
    specifier === target
      ? true
      : (specifier as string).startsWith(".") && reaches(join(dirname(file), specifier as string), target, seen),
  );
}
