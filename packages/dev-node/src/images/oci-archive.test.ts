import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { buildImageArchive, type ImageSpec } from "./oci-archive.ts";

const hello: ImageSpec = {
  names: ["localhost/hello:1", "localhost/hello:latest"],
  arch: "x64",
  config: { Cmd: ["/hello"], User: "1000" },
  layers: [[{ path: "hello", mode: 0o755, data: Buffer.from("hi") }]],
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nodelet-oci-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function unpack(archive: Uint8Array): void {
  writeFileSync(join(folder, "a.tar"), archive);
  execFileSync("tar", ["-xf", "a.tar"], { cwd: folder });
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(folder, path), "utf8"));
}

describe("buildImageArchive", () => {
  it("names every blob by the digest that sha256sum computes", () => {
    unpack(buildImageArchive([hello]).tar);
    const sums = execFileSync("sh", ["-c", "sha256sum *"], { cwd: join(folder, "blobs/sha256") });
    const lines = sums.toString().trim().split("\n");
    expect(lines).toHaveLength(3);
    for (const line of lines) {
      const [digest, name] = line.split(/\s+/);
      expect(name).toBe(digest);
    }
  });

  it("leads from the index over the manifest to config and layer, as image-spec says", () => {
    const { tar, images } = buildImageArchive([hello]);
    unpack(tar);
    expect(readJson("oci-layout")).toEqual({ imageLayoutVersion: "1.0.0" });
    const digest = images[0]?.manifestDigest ?? "";
    const manifestPath = `blobs/${digest.replace(":", "/")}`;
    const entry = {
      mediaType: "application/vnd.oci.image.manifest.v1+json",
      digest,
      size: readFileSync(join(folder, manifestPath)).length,
    };
    expect(readJson("index.json")).toEqual({
      schemaVersion: 2,
      mediaType: "application/vnd.oci.image.index.v1+json",
      manifests: [
        { ...entry, annotations: annotate("localhost/hello:1", "1") },
        { ...entry, annotations: annotate("localhost/hello:latest", "latest") },
      ],
    });
    // The layer: header, one block of data, two empty blocks.
    const layer = { mediaType: "application/vnd.oci.image.layer.v1.tar", digest: layerDigest(), size: 2048 };
    expect(readJson(manifestPath)).toMatchObject({
      schemaVersion: 2,
      config: { digest: images[0]?.id },
      layers: [layer],
    });
    expect(readJson(`blobs/${images[0]?.id.replace(":", "/")}`)).toMatchObject({
      architecture: "amd64",
      os: "linux",
      config: { Cmd: ["/hello"], User: "1000" },
      rootfs: { type: "layers", diff_ids: [layer.digest] },
    });
  });

  it("stores a layer that images share once, and makes the same bytes every time", () => {
    const other: ImageSpec = { ...hello, names: ["localhost/other:1"], config: { Cmd: ["/other"] } };
    const { tar } = buildImageArchive([hello, other]);
    const list = execFileSync("tar", ["-tf", "-"], { input: tar }).toString();
    // Two configs, two manifests, one layer.
    expect(list.match(/blobs\/sha256\/./g)).toHaveLength(5);
    expect(Buffer.compare(buildImageArchive([hello, other]).tar, tar)).toBe(0);
  });
});

function annotate(name: string, tag: string): Record<string, string> {
  return { "io.containerd.image.name": name, "org.opencontainers.image.ref.name": tag };
}

/** The layer's digest without our own tar: GNU tar's ustar form of one file "hello" has the same fields. */
function layerDigest(): string {
  const source = mkdtempSync(join(tmpdir(), "nodelet-layer-"));
  try {
    writeFileSync(join(source, "hello"), "hi", { mode: 0o755 });
    const args =
      "--format=ustar --owner=0 --group=0 --numeric-owner --mtime=@0 --mode=0755 -b 4 -cf - hello | sha256sum";
    return `sha256:${
      execFileSync("sh", ["-c", `tar ${args}`], { cwd: source })
        .toString()
        .split(" ")[0]
    }`;
  } finally {
    rmSync(source, { recursive: true });
  }
}
