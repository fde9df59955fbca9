import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { loadWorkspace, type Manifest, type Workspace } from "./workspace.ts";

const folders: Record<string, string> = {
  "@nodelet/core": "packages/core",
  "@nodelet/testkit": "packages/testkit",
  "@nodelet/cri-adapter": "packages/cri-adapter",
  "@nodelet/host-adapter": "packages/host-adapter",
  "@nodelet/lib-native": "packages/lib-native",
  "@nodelet/cli": "packages/cli",
  "@nodelet/dev-node": "packages/dev-node",
  "@nodelet/e2e": "e2e",
};

const privatePackages = ["@nodelet/dev-node", "@nodelet/e2e"];

/** Fields that a test sets on a package of its tree, by the package's name or `(root)`. */
export type ManifestChanges = Record<string, Partial<Manifest>>;

/**
 * A small workspace in a temporary folder: every package above with an empty index, `files` on top, and what `manifests`
 * changes. Removed when the test ends.
 */
export function makeTree(files: Record<string, string>, manifests: ManifestChanges = {}): Workspace {
  const root = mkdtempSync(join(tmpdir(), "nodelet-tree-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const all: Record<string, string> = {
    "package.json": JSON.stringify({ name: "tree", private: true, ...manifests["(root)"] }),
  };
  for (const [name, dir] of Object.entries(folders)) {
    const manifest = {
      name,
      version: "0.1.0",
      private: privatePackages.includes(name),
      ...(name !== "@nodelet/e2e" && {
        exports: { ".": { "nodelet-source": "./src/index.ts", default: "./dist/index.js" } },
      }),
      ...manifests[name],
    };
    all[`${dir}/package.json`] = JSON.stringify(manifest);
    all[`${dir}/src/index.ts`] = "export {};\n";
  }
  for (const [path, text] of Object.entries({ ...all, ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return loadWorkspace(root);
}
