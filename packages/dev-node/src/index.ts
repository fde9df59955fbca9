/**
 * A private containerd with a network and small images, for `npm start`, the end-to-end tests and the benches.
 *
 *     const node = await prepareNode({ dir: "/tmp/node" });   // programs, containerd, images
 *     node.endpoint;                                          // "unix:///tmp/node/c.sock"
 *     await node.close();                                     // nothing is left
 *
 * @packageDocumentation
 */
export { type Leftover, type LeftoverOptions, listLeftovers } from "./containerd/leftovers.ts";
export type { NodeRecord } from "./containerd/node-record.ts";
export { type Containerd, type StartContainerdOptions, startContainerd } from "./containerd/start-containerd.ts";
export { reap, reapDead } from "./containerd/teardown.ts";
export { DevNodeError, type DevNodeErrorKind } from "./errors.ts";
export { type GuestOptions, type GuestResult, runInGuest } from "./guest/run-in-guest.ts";
export {
  type BuiltImage,
  buildImageArchive,
  type ImageArchive,
  type ImageConfig,
  type ImageSpec,
} from "./images/oci-archive.ts";
export { type Registry, type RegistryOptions, startRegistry } from "./images/registry.ts";
export { buildImages, standardImages } from "./images/standard-images.ts";
export { createTar, type TarEntry } from "./images/tar.ts";
export { type PreparedNode, type PrepareNodeOptions, prepareNode } from "./prepare-node.ts";
export {
  type ContainerdTool,
  type ContainerdVersion,
  defaultCacheDir,
  ensureTools,
  type Tools,
} from "./tools/ensure-tools.ts";
export { type UsedRuntime, useRuntime } from "./use-runtime.ts";
