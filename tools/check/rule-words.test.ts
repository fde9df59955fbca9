import { describe, expect, it } from "vitest";
import { checkWords } from "./rule-words.ts";

const found = (line: string) => checkWords(["a.md"], () => `first\n${line}\n`);

// Written in two pieces, since this file is among those that the rule reads.
const join = (...parts: string[]) => parts.join("");

describe("words that must not be committed", () => {
  it.each([
    join("https://registry", ".npmjs.org/left-pad"),
    join("http://deb", ".debian.org/debian"),
    join("see /wo", "rk/main/packages"),
    join("from ../sha", "red/facts/golden"),
    join("sha", "red/machine.md says"),
    join("in /tmp/node", "let/brief.md"),
    join("as asked in iss", "ue 7"),
  ])("finds %s", (line) => {
    expect(found(line)).toEqual([expect.objectContaining({ file: "a.md", line: 2, severity: "error" })]);
  });

  it.each([
    "image: registry.k8s.io/pause:3.10",
    "image: registry.example.com/app",
    "a bind mount of /srv/work/main.txt",
    "see github.com/kubernetes/kubernetes/issues/12345",
    "node_modules/.bin/nodelet",
    "a shared volume, shared/fast",
  ])("leaves %s alone", (line) => {
    expect(found(line)).toEqual([]);
  });

  it("leaves files that are not text alone", () => {
    expect(checkWords(["a.bin"], () => undefined)).toEqual([]);
  });
});
