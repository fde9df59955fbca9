import { makeDirectories, withDirectory } from "@nodelet/lib-safe-fs";
import { hostCall } from "../errors/host-error.ts";

/** Made in the root directory at start, 0750 each. */
const ROOT_CHILDREN = ["pods", "plugins", "plugins_registry", "pod-resources"];

/**
 * Makes the directories that an agent works in: the root directory (0750) and its children, the pod log directory (0750), the directory of
 * container log links (0755). Existing ones are left as they are. Throws `permission`, `resourceExhausted`, or `invalid` when something else
 * has such a name.
 */
export async function prepareHostDirectories(options: {
  readonly rootDir: string;
  readonly podLogsDir: string;
  readonly containerLinksDir: string;
}): Promise<void> {
  const { rootDir, podLogsDir, containerLinksDir } = options;
  for (const [path, mode] of [
    [rootDir, 0o750],
    [podLogsDir, 0o750],
    [containerLinksDir, 0o755],
  ] as const) {
    await hostCall({ what: `cannot make the directory ${path}` }, async () => makeDirectories(path, { mode }));
  }
  await hostCall({ what: `cannot make the directories in ${rootDir}` }, () =>
    withDirectory({ root: rootDir }, async (root) => {
      for (const name of ROOT_CHILDREN) await (await root.ensureChild(name, { mode: 0o750 })).close();
    }),
  );
}
