import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Containerd, startContainerd } from "./containerd/start-containerd.ts";
import type { BuiltImage } from "./images/oci-archive.ts";
import { buildImages } from "./images/standard-images.ts";
import type { Log } from "./processes.ts";
import { type ContainerdVersion, ensureTools } from "./tools/ensure-tools.ts";

/** What {@link prepareNode} is asked for. */
export interface PrepareNodeOptions {
  /** Directory of the private containerd; absent or empty. */
  dir: string;
  /** Default "2.1". */
  version?: ContainerdVersion;
  cacheDir?: string;
  cgroupRoot?: string;
  log?: Log;
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
  const log = options.log ?? (() => {});
  const version = options.version ?? "2.1";
  const cache = options.cacheDir === undefined ? {} : { cacheDir: options.cacheDir };
  const tools = await ensureTools({ versions: [version], log, ...cache });
  const cgroup = options.cgroupRoot === undefined ? {} : { cgroupRoot: options.cgroupRoot };
  const containerd = await startContainerd({ version, dir: options.dir, tools, log, ...cgroup });
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
