import { describe, expect, it } from "vitest";
import { parseEndpoint } from "./endpoint.ts";

describe("runtime endpoint", () => {
  it.each([
    ["unix:///run/containerd/containerd.sock", "/run/containerd/containerd.sock", false],
    ["unix:/run/x.sock", "/run/x.sock", false],
    ["UNIX:///run/x.sock", "/run/x.sock", false],
    ["/run/x.sock", "/run/x.sock", true],
    ["unix:///run/with space.sock", "/run/with space.sock", false],
  ])("%s is the socket %s", (endpoint, socketPath, deprecatedForm) => {
    expect(parseEndpoint(endpoint)).toEqual({ socketPath, url: `unix://${socketPath}`, deprecatedForm });
  });

  it.each([
    ["", "it is empty"],
    ["tcp://127.0.0.1:1", "the protocol tcp is not supported"],
    ["http://x", "the protocol http is not supported"],
    ["npipe:////./pipe/x", "the protocol npipe is not supported"],
    ["unix://run/x.sock", "the path is not absolute"],
    ["unix://", "the path is not absolute"],
    ["run/x.sock", "the path is not absolute"],
    ["unix:////x", "the path is not absolute"],
    ["unix:///run/x\0y", "a character that an endpoint cannot hold"],
    [`unix:///${"x".repeat(107)}`, "longer than the 107 bytes"],
  ])("%j is refused: %s", (endpoint, problem) => {
    expect(() => parseEndpoint(endpoint)).toThrow(
      expect.objectContaining({
        kind: "invalid",
        message: expect.stringMatching(
          new RegExp(`^runtime endpoint .*${problem}.*; expected a unix socket such as unix:///run/`),
        ) as string,
      }) as Error,
    );
  });
});
