import { NodeletError } from "@nodelet/core";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "../clock/virtual-clock.ts";
import { outcomeOf, sandboxConfig } from "../runtime/runtime.test-support.ts";
import { InMemoryImages, type InMemoryImagesOptions } from "./in-memory-images.ts";
import { formatReference, parseReference } from "./reference.ts";

function newImages(options: Partial<InMemoryImagesOptions> = {}) {
  const clock = new VirtualClock();
  const images = new InMemoryImages({ clock, ...options });
  const pull = (image: string, more: { signal?: AbortSignal; onProgress?: (elapsedMs: number) => void } = {}) =>
    images.pullImage({ image: { image }, sandboxConfig: sandboxConfig(), ...more });
  const status = (image: string) => images.imageStatus({ image: { image } });
  return { clock, images, pull, status };
}

describe("image references", () => {
  // The rules are those of the distribution project's reference grammar.
  it.each([
    ["busybox", "docker.io/library/busybox:latest"],
    ["busybox:1.35", "docker.io/library/busybox:1.35"],
    ["team/app:2", "docker.io/team/app:2"],
    ["localhost/app:1", "localhost/app:1"],
    ["registry.example.com:5000/a/b", "registry.example.com:5000/a/b:latest"],
    [`quay.io/x/y:v1@sha256:${"a".repeat(64)}`, `quay.io/x/y@sha256:${"a".repeat(64)}`],
  ])("reads %s as %s", (text, full) => {
    expect(formatReference(parseReference(text))).toBe(full);
  });

  it.each(["", "UPPER", "UPPER CASE:x", "a b", "app:", "app:bad tag", "app@sha256:123", "a//b", "-a/b", "app:1:2"])(
    "refuses %j",
    (text) => {
      expect(() => parseReference(text)).toThrow("invalid reference format");
    },
  );

  it("says that a repository name must be lower case", () => {
    expect(() => parseReference("UPPER CASE:x")).toThrow(
      "invalid reference format: repository name (library/UPPER CASE) must be lowercase",
    );
  });
});

describe("InMemoryImages", () => {
  it("finds an image by every way to name it", async () => {
    const { images, status } = newImages({ present: ["busybox:1.35"] });
    const image = images.resolve("busybox:1.35");
    for (const name of ["docker.io/library/busybox:1.35", image?.id ?? "", image?.id.slice("sha256:".length) ?? ""]) {
      expect((await status(name))?.id).toBe(image?.id);
    }
    expect(await status("busybox:latest")).toBeUndefined();
    expect(await status("UPPER CASE:x")).toBeUndefined();
  });

  it("pulls what the registry has; then it has a digest reference, unlike an imported one", async () => {
    const { images, pull, status } = newImages({ present: ["localhost/imported:1"], pullable: ["example.com/app:2"] });
    const id = await pull("example.com/app:2");
    expect((await status("example.com/app:2"))?.id).toBe(id);
    expect(images.resolve(id)?.repoDigests).toEqual([expect.stringMatching(/^example\.com\/app@sha256:[0-9a-f]{64}$/)]);
    expect(images.resolve("localhost/imported:1")?.repoDigests).toEqual([]);
  });

  it("takes time for a pull, reports every 30 s, and stops when nobody wants it any more", async () => {
    const { clock, images, pull } = newImages({ pullable: ["example.com/big:1"], pullMs: () => 100_000 });
    const elapsed: number[] = [];
    const done = pull("example.com/big:1", { onProgress: (elapsedMs) => elapsed.push(elapsedMs) });
    await clock.advance(99_999);
    expect(elapsed).toEqual([30_000, 60_000, 90_000]);
    expect(images.resolve("example.com/big:1")).toBeUndefined();
    await clock.advance(1);
    await done;
    images.remove("example.com/big:1");
    const abort = new AbortController();
    const given = outcomeOf(pull("example.com/big:1", { signal: abort.signal }));
    await clock.advance(50_000);
    abort.abort();
    expect(await given).toBe("cancelled");
    await clock.advance(3_600_000);
    expect([images.resolve("example.com/big:1"), clock.pendingTimers]).toEqual([undefined, 0]);
  });

  it("has no deadline on a pull", async () => {
    const { clock, pull } = newImages({ pullable: ["example.com/huge:1"], pullMs: () => 7_200_000 });
    const done = pull("example.com/huge:1");
    await clock.advance(7_200_000);
    await done;
    expect(clock.monotonicMs()).toBe(7_200_000);
  });

  it("fails pulls as it is told, with the words of a recorded containerd otherwise", async () => {
    const { images, pull } = newImages({ pullable: ["example.com/app:1"] });
    await expect(pull("localhost/absent:1")).rejects.toMatchObject({
      kind: "internal",
      message:
        'failed to pull and unpack image "localhost/absent:1": failed to resolve image: failed to do request: Head "https://localhost/v2/absent/manifests/1": dial tcp 127.0.0.1:443: connect: connection refused',
    });
    await expect(pull("UPPER CASE:x")).rejects.toMatchObject({
      kind: "internal",
      message:
        'failed to parse image reference "UPPER CASE:x": invalid reference format: repository name (library/UPPER CASE) must be lowercase',
    });
    images.failPull({ reference: "example.com/app:1", error: new NodeletError("permission", "unauthorized") });
    await expect(pull("example.com/app:1")).rejects.toMatchObject({ kind: "permission" });
    images.failPull({ reference: "example.com/app:1", error: undefined });
    await pull("example.com/app:1");
  });

  it("never journals credentials", async () => {
    const { images } = newImages({ pullable: ["example.com/app:1"] });
    await images.pullImage({
      image: { image: "example.com/app:1" },
      auth: { username: "user", password: "hunter2" },
      sandboxConfig: sandboxConfig(),
    });
    expect(images.calls).toHaveLength(1);
    expect(JSON.stringify(images.calls)).not.toContain("hunter2");
  });

  it("moves a tag from one image to another", async () => {
    const { images } = newImages({ present: [{ reference: "localhost/app:1", id: `sha256:${"1".repeat(64)}` }] });
    images.add({ reference: "localhost/app:1", id: `sha256:${"2".repeat(64)}` });
    expect(images.resolve("localhost/app:1")?.id).toBe(`sha256:${"2".repeat(64)}`);
    expect(images.resolve(`sha256:${"1".repeat(64)}`)?.repoTags).toEqual([]);
  });

  it("hangs pulls of one image until released", async () => {
    const { images, pull } = newImages({ pullable: ["example.com/a:1", "example.com/b:1"] });
    const hang = images.hang({ calls: ["pullImage"], id: "example.com/a:1" });
    const stuck = pull("example.com/a:1");
    await pull("example.com/b:1");
    expect([hang.caught, images.resolve("example.com/a:1")]).toEqual([1, undefined]);
    hang.release();
    await stuck;
    expect(images.resolve("example.com/a:1")).toBeDefined();
  });
});
