import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { defaultPullPolicy, parseReference, withDefaultTag } from "./reference.ts";

const HEX64 = "0123456789abcdef".repeat(4);

describe("a reference in full", () => {
  test.each([
    ["busybox", "docker.io/library/busybox", "latest", ""],
    ["busybox:1.35", "docker.io/library/busybox", "1.35", ""],
    ["team/app", "docker.io/team/app", "latest", ""],
    ["docker.io/busybox", "docker.io/library/busybox", "latest", ""],
    ["index.docker.io/busybox", "docker.io/library/busybox", "latest", ""],
    ["localhost/busybox:1.35", "localhost/busybox", "1.35", ""],
    ["localhost:5000/a/b", "localhost:5000/a/b", "latest", ""],
    ["registry.example/a:b", "registry.example/a", "b", ""],
    ["Registry/a", "Registry/a", "latest", ""],
    ["[fd00::1]:5000/a", "[fd00::1]:5000/a", "latest", ""],
    [`a@sha256:${HEX64}`, "docker.io/library/a", "", `sha256:${HEX64}`],
    [`a:1@sha256:${HEX64}`, "docker.io/library/a", "1", `sha256:${HEX64}`],
    ["a__b/c-d.e:T_.-1", "docker.io/a__b/c-d.e", "T_.-1", ""],
  ])("%s", (text, repository, tag, digest) => {
    expect(parseReference(text)).toEqual({ repository, tag, digest });
  });
});

describe("what is no reference", () => {
  test.each([
    ["", "invalid reference format"],
    ["UPPER CASE:x", "invalid reference format: repository name (library/UPPER CASE) must be lowercase"],
    ["localhost/App", "invalid reference format: repository name (App) must be lowercase"],
    ["a b", "invalid reference format"],
    ["a:", "invalid reference format"],
    ["a:-x", "invalid reference format"],
    [`a:${"t".repeat(129)}`, "invalid reference format"],
    ["a//b", "invalid reference format"],
    ["-a", "invalid reference format"],
    ["a___b", "invalid reference format"],
    ["https://registry.example/a", "invalid reference format"],
    [HEX64, `invalid repository name (${HEX64}), cannot specify 64-byte hexadecimal strings`],
    [`localhost/${"a".repeat(256)}`, "repository name must not be more than 255 characters"],
    [`a@md5:${"0".repeat(32)}`, "unsupported digest algorithm"],
    [`a@sha256:${"0".repeat(32)}`, "invalid checksum digest length"],
    [`a@sha256:${HEX64.toUpperCase()}`, "invalid checksum digest format"],
  ])("%s", (text, message) => {
    expect(() => parseReference(text)).toThrow(`couldn't parse image name "${text}": ${message}`);
  });

  test("text of any length is judged at once", () => {
    expect(() => parseReference(`${"a-".repeat(500_000)}:x`)).toThrow("invalid reference format");
    expect(() => parseReference(`${"a.".repeat(2000)}/x`)).toThrow("invalid reference format");
  });
});

test.each([
  ["busybox", "busybox:latest"],
  ["busybox:1", "busybox:1"],
  ["localhost:5000/a", "localhost:5000/a:latest"],
  [`a@sha256:${HEX64}`, `a@sha256:${HEX64}`],
  [`a:1@sha256:${HEX64}`, `a:1@sha256:${HEX64}`],
])("%s is pulled as %s", (text, expected) => {
  expect(withDefaultTag(text)).toBe(expected);
});

test.each([
  ["busybox", "Always"],
  ["busybox:latest", "Always"],
  ["busybox:1", "IfNotPresent"],
  [`a@sha256:${HEX64}`, "IfNotPresent"],
] as const)("without a policy %s is pulled %s", (text, policy) => {
  expect(defaultPullPolicy(text)).toBe(policy);
});

test("a reference with its default tag means the same", () => {
  const reference = fc.stringMatching(
    /^([a-z]{1,8}(\.[a-z]{1,4})?(:[0-9]{1,4})?\/)?[a-z0-9]{1,8}(\/[a-z0-9]{1,8})?(:[a-z0-9]{1,8})?$/,
  );
  fc.assert(
    fc.property(reference, (text) => {
      expect(parseReference(withDefaultTag(text))).toEqual(parseReference(text));
    }),
  );
});
