import { constants } from "node:fs";
import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { MAX_MANIFEST_BYTES, NodeletError } from "@nodelet/core";
import { decodeConfig, settingsOf } from "./config-document.ts";
import { type ConfigTree, mergeTrees } from "./config-tree.ts";
import type { Settings } from "./settings-table.ts";

const MAX_DROP_INS = 1000;

/** What the configuration files say. */
export interface LoadedConfig {
  readonly values: Partial<Settings>;
  readonly warnings: readonly string[];
  /** What was read, in the order in which it counts. */
  readonly files: readonly string[];
}

/**
 * Reads --config and the drop-ins of --config-dir and merges them in this order; empty paths are left out. Throws `invalid` or `notFound`, with
 * file, line and field where there is one: a configuration that is not understood must not start anything.
 */
export async function loadConfig(paths: {
  readonly config: string;
  readonly configDir: string;
}): Promise<LoadedConfig> {
  const files = [
    ...(paths.config === "" ? [] : [paths.config]),
    ...(paths.configDir === "" ? [] : await dropIns(paths.configDir)),
  ];
  let tree: ConfigTree = {};
  const warnings: string[] = [];
  for (const source of files) {
    const document = decodeConfig({ bytes: await readConfig(source), source });
    warnings.push(...document.warnings);
    tree = mergeTrees(tree, document);
  }
  return { values: settingsOf(tree), warnings, files };
}

/** Files ending in `.conf` at any depth, in lexical order of their paths, directory by directory. */
async function dropIns(directory: string): Promise<string[]> {
  const isDirectory = await stat(directory).then(
    (stats) => stats.isDirectory(),
    (error: unknown) => {
      throw readError(`--config-dir ${directory}`, error);
    },
  );
  if (!isDirectory) throw new NodeletError("invalid", `--config-dir ${directory}: expected a directory`);
  const found: string[] = [];
  const visit = async (path: string): Promise<void> => {
    const entries = await readdir(path, { withFileTypes: true });
    for (const entry of entries.sort((left, right) => (left.name < right.name ? -1 : 1))) {
      const inner = join(path, entry.name);
      if (entry.isDirectory()) await visit(inner);
      else if (entry.name.endsWith(".conf")) found.push(inner);
      if (found.length > MAX_DROP_INS)
        throw new NodeletError("invalid", `--config-dir ${directory}: more than ${MAX_DROP_INS} drop-ins`);
    }
  };
  await visit(directory);
  return found;
}

async function readConfig(path: string): Promise<Uint8Array> {
  try {
    // Not blocking: a pipe of that name must not hold up the start.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) throw new NodeletError("invalid", `${path}: expected a file`);
      if (stats.size > MAX_MANIFEST_BYTES)
        throw new NodeletError("invalid", `${path}: ${stats.size} bytes is too much for a configuration`);
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw readError(path, error);
  }
}

function readError(path: string, error: unknown): NodeletError {
  if (NodeletError.is(error)) return error;
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "ENOENT") return new NodeletError("notFound", `${path}: there is no such file or directory`);
  const message = error instanceof Error ? error.message : String(error);
  return new NodeletError("invalid", `${path}: cannot be read: ${message}`, { cause: error });
}
