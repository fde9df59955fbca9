import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { type PackedPackage, packPackages, succeed } from "./packed-project.test-support.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Every published package as it is at the moment, built and packed once for all tests of the tier. */
    packed: readonly PackedPackage[];
  }
}

/** Runs before the first test of the tier "pack"; what it answers runs after the last. */
export async function setup(project: TestProject): Promise<() => void> {
  const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
  await succeed([process.execPath, "tools/build/main.ts"], { cwd: root, env: { ...process.env, NODE_OPTIONS: "" } });
  const packed = await packPackages(root);
  project.provide("packed", packed);
  return () => {
    if (packed[0] !== undefined) rmSync(dirname(packed[0].tarball), { recursive: true });
  };
}
