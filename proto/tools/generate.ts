/**
 * Writes everything that is generated from proto/: the CRI messages of cri-adapter (buf, protoc-gen-es) and the
 * Kubernetes types and schemas of core. Does nothing while the inputs are unchanged, so that it may run ahead of
 * every build and test. `--force` writes anew.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { renderSchema } from "./kubernetes-schema.ts";
import { renderTypes } from "./kubernetes-types.ts";
import type { OpenApiFacts } from "./openapi.ts";

const protoDir = join(dirname(fileURLToPath(import.meta.url)), "..");
const criPackage = join(protoDir, "../packages/cri-adapter");
const criOut = join(criPackage, "src/gen");
const coreOut = join(protoDir, "../packages/core/src/api/gen");
const force = process.argv.includes("--force");

/** Runs `write` when the stamp in `out` differs from the digest of the inputs. */
function whenChanged(options: { out: string; inputs: readonly string[]; write: () => void }): void {
  const digest = createHash("sha256");
  for (const input of options.inputs) {
    digest.update(readFileSync(input));
  }
  const stamp = digest.digest("hex");
  const stampFile = join(options.out, ".stamp");
  if (!force && existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) {
    return;
  }
  mkdirSync(options.out, { recursive: true });
  rmSync(stampFile, { force: true });
  options.write();
  writeFileSync(stampFile, stamp);
}

/** Replaces a file in one step, so that a program that reads it at this moment sees the old or the new one. */
function replaceFile(options: { path: string; text: string }): void {
  const temporary = `${options.path}.${process.pid}.tmp`;
  writeFileSync(temporary, options.text);
  renameSync(temporary, options.path);
}

function generateCri(): void {
  const bin = join(criPackage, "node_modules/.bin");
  const buf = join(bin, "buf");
  if (!existsSync(buf)) {
    throw new Error(`${buf} is missing: install the dependencies first (pnpm install)`);
  }
  execFileSync(buf, ["generate"], {
    cwd: protoDir,
    stdio: "inherit",
    env: { ...process.env, PATH: [bin, process.env.PATH ?? ""].join(delimiter) },
  });
}

function generateKubernetes(): void {
  const facts = JSON.parse(readFileSync(join(protoDir, "facts/openapi.json"), "utf8")) as OpenApiFacts;
  const files = renderTypes(facts);
  const core = "io.k8s.api.core.v1";
  files.set(
    "pod-schema.ts",
    renderSchema({ facts, roots: [`${core}.Pod`, `${core}.PodList`], exportName: "podSchema" }),
  );
  for (const stale of readdirSync(coreOut).filter((name) => !files.has(name))) {
    rmSync(join(coreOut, stale));
  }
  for (const [name, text] of files) {
    replaceFile({ path: join(coreOut, name), text });
  }
}

const tools = ["openapi.ts", "kubernetes-types.ts", "kubernetes-schema.ts", "generate.ts"];
whenChanged({
  out: coreOut,
  inputs: [join(protoDir, "facts/openapi.json"), ...tools.map((name) => join(protoDir, "tools", name))],
  write: generateKubernetes,
});
whenChanged({
  out: criOut,
  inputs: ["runtime/v1/api.proto", "buf.yaml", "buf.gen.yaml"]
    .map((name) => join(protoDir, name))
    .concat(join(criPackage, "package.json")),
  write: generateCri,
});
