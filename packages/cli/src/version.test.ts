import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { answerToVersion, NODELET_VERSION } from "./version.ts";

test("the version is the package's", () => {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
  expect(NODELET_VERSION).toBe(manifest.version);
});

test.each([
  [["--version"], "Kubernetes v1.36.2"],
  [["--version=true", "--config=x"], "Kubernetes v1.36.2"],
  [["pods", "--version"], "Kubernetes v1.36.2"],
  [["--version=false"], undefined],
  [["--version", "--version=false"], undefined],
  [["--versions"], undefined],
  [["--", "--version"], undefined],
  [[], undefined],
])("%j asks for %s", (args, answer) => {
  expect(answerToVersion(args)).toBe(answer);
});

test("the raw form is Go's, and another form is refused", () => {
  expect(answerToVersion(["--version=raw"])).toMatch(/^version\.Info\{Major:"1", Minor:"36", GitVersion:"v1\.36\.2", /);
  expect(() => answerToVersion(["--version=v1.30.0"])).toThrow("--version=v1.30.0: expected");
});
