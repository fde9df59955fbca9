import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openCriProbe } from "./containerd/cri-probe.ts";
import { waitForImages } from "./containerd/image-import.ts";
import { DevNodeError } from "./errors.ts";
import type { BuiltImage } from "./images/oci-archive.ts";
import { buildImages } from "./images/standard-images.ts";
import { type Log, runCommand } from "./processes.ts";
import { ensureTools, findOnPath } from "./tools/ensure-tools.ts";

/** A runtime that somebody else runs, with the standard images in it. */
export interface UsedRuntime {
  endpoint: string;
  images: readonly BuiltImage[];
  /** Removes the images that {@link useRuntime} brought; the runtime itself stays as it is. Idempotent. */
  close(): Promise<void>;
}

/**
 * Brings the standard images into a containerd that runs already, by its CRI endpoint ("unix:///…"). Images that are
 * there already are left alone, then and at close. Fails with a `start` error when nothing answers there, and with a
 * `tool` error when it is another runtime than containerd.
 */
export async function useRuntime(options: { endpoint: string; cacheDir?: string; log?: Log }): Promise<UsedRuntime> {
  const log = options.log ?? (() => {});
  const socketPath = /^unix:\/\/(\/.*)$/.exec(options.endpoint)?.[1];
  if (socketPath === undefined) {
    throw new DevNodeError("start", `runtime endpoint ${options.endpoint}: expected unix:// and an absolute path`);
  }
  const probe = openCriProbe({ socketPath, timeoutMs: 5_000 });
  try {
    const runtime = await probe.readVersion();
    if (runtime.name !== "containerd") {
      const what = `${options.endpoint} is ${runtime.name} ${runtime.version}`;
      throw new DevNodeError(
        "tool",
        `${what}: the example images are imported into containerd only, bring them by hand`,
      );
    }
    const cache = options.cacheDir === undefined ? {} : { cacheDir: options.cacheDir };
    const tools = await ensureTools({ versions: [], log, ...cache });
    const ctr = (await findOnPath("ctr")) ?? (await fetchCtr({ runtimeVersion: runtime.version, log, ...cache }));
    const archive = await buildImages({ busybox: tools.busybox });
    const present = await probe.listImageTags();
    const names = archive.images.flatMap((image) => [...image.names]);
    const missing = names.filter((name) => !present.includes(name));
    const run = async (args: readonly string[]): Promise<void> => {
      await runCommand([ctr, "--address", socketPath, "-n", "k8s.io", "images", ...args]);
    };
    if (missing.length > 0) {
      log(`importing ${missing.join(", ")} into ${options.endpoint}`);
      await importArchive({ tar: archive.tar, run });
      await waitForImages({ probe, names: missing });
    }
    let closing: Promise<void> | undefined;
    const remove = async (): Promise<void> => {
      if (missing.length > 0) {
        await run(["rm", ...missing]);
      }
    };
    const close = (): Promise<void> => {
      closing ??= remove();
      return closing;
    };
    return { endpoint: options.endpoint, images: archive.images, close };
  } finally {
    probe.close();
  }
}

/** ctr speaks to a containerd of its own major version only: the services for images changed in between. */
async function fetchCtr(options: { runtimeVersion: string; log: Log; cacheDir?: string }): Promise<string> {
  const { runtimeVersion, ...rest } = options;
  const version = /^v?1\./.test(runtimeVersion) ? "1.6" : "2.1";
  const { containerd } = await ensureTools({ versions: [version], ...rest });
  return join(containerd[version]?.binDir ?? "", "ctr");
}

async function importArchive(options: {
  tar: Uint8Array;
  run: (args: readonly string[]) => Promise<void>;
}): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "nodelet-images-"));
  try {
    const path = join(folder, "images.tar");
    await writeFile(path, options.tar);
    await options.run(["import", path]);
  } finally {
    await rm(folder, { recursive: true });
  }
}
