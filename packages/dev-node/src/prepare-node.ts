import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Containerd, type StartContainerdOptions, startContainerd } from "./containerd/start-containerd.ts";
import type { BuiltImage } from "./images/oci-archive.ts";
import { buildImages } from "./images/standard-images.ts";
import { type ContainerdVersion, defaultCacheDir, ensureTools } from "./tools/ensure-tools.ts";

/** What {@link prepareNode} is asked for: as for {@link startContainerd}, where the version is "2.1" by default. */
export interface PrepareNodeOptions extends Omit<StartContainerdOptions, "version"> {
  version?: ContainerdVersion;
}

/** A runtime with the standard images in it. */
export interface PreparedNode {
  /** For `--container-runtime-endpoint`. */
  endpoint: string;
  images: readonly BuiltImage[];
  containerd: Containerd;
  /** Takes down what {@link prepareNode} made. Idempotent. */
  close(): Promise<void>;
}

/** Fetches missing programs, starts a private containerd, and imports the standard images. */
export async function prepareNode(options: PrepareNodeOptions): Promise<PreparedNode> {
  const { log = () => {}, version = "2.1", cacheDir = defaultCacheDir } = options;
  const tools = options.tools ?? (await ensureTools({ versions: [version], log, cacheDir }));
  const containerd = await startContainerd({ ...options, version, tools });
  try {
    const archive = await buildImages({ busybox: tools.busybox });
    const path = join(containerd.dir, "images.tar");
    await writeFile(path, archive.tar);
    await containerd.importImages(
      path,
      archive.images.flatMap(({ names }) => names),
    );
    return { endpoint: containerd.endpoint, images: archive.images, containerd, close: () => containerd.stop() };
  } catch (error) {
    await containerd.stop();
    throw error;
  }
}
