import { describe, expect, it } from "vitest";
import { definitionChanged, definitionHash } from "./container-hash.ts";

describe("definitionHash", () => {
  // Upstream's own test vector, and the annotation that kubelet 1.36.2 wrote for this container.
  it.each([
    ["foo/image:v1", "test_container", "8e45cbd0"],
    ["localhost/busybox:1.35", "c", "e29833bf"],
  ])("of %s as %s is %s", (image, name, hash) => {
    expect(definitionHash({ image, name })).toBe(hash);
    expect(definitionChanged(hash, { image, name })).toBe(false);
    expect(definitionChanged(hash.toUpperCase(), { image, name })).toBe(false);
    expect(definitionChanged(hash, { image, name: `${name}x` })).toBe(true);
  });
});
