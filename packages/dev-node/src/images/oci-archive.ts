import { createHash } from "node:crypto";
import type { ImageArch } from "./pause-program.ts";
import { createTar, type TarEntry } from "./tar.ts";

/** What a container of the image runs as by default: the `config` of an OCI image (image-spec, config.md). */
export interface ImageConfig {
  User?: string;
  Env?: readonly string[];
  Entrypoint?: readonly string[];
  Cmd?: readonly string[];
  WorkingDir?: string;
  StopSignal?: string;
  Labels?: Readonly<Record<string, string>>;
  ExposedPorts?: Readonly<Record<string, Record<string, never>>>;
  Volumes?: Readonly<Record<string, Record<string, never>>>;
}

/** An image to be made. */
export interface ImageSpec {
  /** Full references with host part and tag: "localhost/pause:1". The first is the main one. */
  names: readonly [string, ...string[]];
  arch: ImageArch;
  config: ImageConfig;
  /** Layers from the bottom up; each is the list of its files. */
  layers: readonly (readonly TarEntry[])[];
}

/** A made image: references, and the digest of its config, which CRI shows as the image's id. */
export interface BuiltImage {
  names: readonly [string, ...string[]];
  /** "sha256:…" of the config: the id in CRI. */
  id: string;
  /** "sha256:…" of the manifest: what follows "@" in a repository digest. */
  manifestDigest: string;
  /** Sum of the sizes of config and layers, as CRI counts an image's size. */
  sizeBytes: number;
}

/** Several images in one archive, for `ctr images import`. */
export interface ImageArchive {
  tar: Uint8Array;
  images: readonly BuiltImage[];
  /** Manifests, configs and layers by digest, "sha256:…": what a registry serves. */
  blobs: ReadonlyMap<string, Uint8Array>;
}

interface Blob {
  digest: string;
  data: Uint8Array;
}

/**
 * Packs images as one OCI image layout (image-spec, image-layout.md), the same bytes for the same input. Layers are
 * uncompressed: they are small, and need no unpacking at import. Blobs that images share are stored once.
 */
export function buildImageArchive(specs: readonly ImageSpec[]): ImageArchive {
  const blobs = new Map<string, Blob>();
  const keep = (data: Uint8Array): Blob => {
    const blob = { digest: `sha256:${createHash("sha256").update(data).digest("hex")}`, data };
    blobs.set(blob.digest, blob);
    return blob;
  };
  const manifests: unknown[] = [];
  const images = specs.map((spec) => {
    const built = buildImage(spec, keep);
    for (const name of spec.names) {
      manifests.push({
        mediaType: "application/vnd.oci.image.manifest.v1+json",
        digest: built.image.manifestDigest,
        size: built.manifestBytes,
        annotations: { "io.containerd.image.name": name, "org.opencontainers.image.ref.name": name.split(":").at(-1) },
      });
    }
    return built.image;
  });
  const index = { schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json", manifests };
  const files: TarEntry[] = [
    { path: "oci-layout", mode: 0o644, data: toJson({ imageLayoutVersion: "1.0.0" }) },
    { path: "blobs/", mode: 0o755 },
    { path: "blobs/sha256/", mode: 0o755 },
    ...[...blobs.values()].map(({ digest, data }) => ({
      path: `blobs/${digest.replace(":", "/")}`,
      mode: 0o644,
      data,
    })),
    { path: "index.json", mode: 0o644, data: toJson(index) },
  ];
  const contents = new Map([...blobs].map(([digest, { data }]) => [digest, data] as const));
  return { tar: createTar(files), images, blobs: contents };
}

function buildImage(spec: ImageSpec, keep: (data: Uint8Array) => Blob): { image: BuiltImage; manifestBytes: number } {
  const layers = spec.layers.map((entries) => keep(createTar(entries)));
  const epoch = "1970-01-01T00:00:00Z";
  const config = keep(
    toJson({
      created: epoch,
      architecture: spec.arch === "x64" ? "amd64" : "arm64",
      os: "linux",
      config: spec.config,
      // A layer that is not compressed has the same digest in the config (of its tar) as in the manifest (of its blob).
      rootfs: { type: "layers", diff_ids: layers.map(({ digest }) => digest) },
      history: layers.map(() => ({ created: epoch, created_by: "nodelet dev-node" })),
    }),
  );
  const manifest = keep(
    toJson({
      schemaVersion: 2,
      mediaType: "application/vnd.oci.image.manifest.v1+json",
      config: describe("application/vnd.oci.image.config.v1+json", config),
      layers: layers.map((layer) => describe("application/vnd.oci.image.layer.v1.tar", layer)),
    }),
  );
  const sizeBytes = [config, ...layers].reduce((total, { data }) => total + data.length, 0);
  const image = { names: spec.names, id: config.digest, manifestDigest: manifest.digest, sizeBytes };
  return { image, manifestBytes: manifest.data.length };
}

function describe(mediaType: string, blob: Blob): { mediaType: string; digest: string; size: number } {
  return { mediaType, digest: blob.digest, size: blob.data.length };
}

function toJson(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}
