import { describe, expect, it } from "vitest";
import { rewriteAptSources } from "./apt-sources.ts";

const deb822 = `Types: deb
# a comment inside
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
`;

const wanted = `Types: deb
URIs: http://mirror.example/debian
Suites: forky
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
`;

function rewrite(path: string, text: string): string {
  return rewriteAptSources({ files: [{ path, text }], codename: "bookworm", suite: "forky" });
}

describe("rewriteAptSources", () => {
  it("keeps mirror and keyring of a deb822 file, and leaves security and updates out", () => {
    expect(rewrite("/etc/apt/sources.list.d/debian.sources", deb822)).toBe(wanted);
  });

  it.each([
    [
      "plain",
      "deb http://mirror.example/debian bookworm main\n",
      "Types: deb\nURIs: http://mirror.example/debian\nSuites: forky\nComponents: main\n",
    ],
    [
      "with options",
      "deb [arch=amd64,i386 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://mirror.example/debian bookworm main\n",
      wanted.replace("Signed-By", "Architectures: amd64 i386\nSigned-By"),
    ],
    [
      "by the alias of the release",
      "deb http://mirror.example/debian stable main # c\n",
      "Types: deb\nURIs: http://mirror.example/debian\nSuites: forky\nComponents: main\n",
    ],
  ])("understands one-line sources: %s", (_, text, expected) => {
    expect(rewrite("/etc/apt/sources.list", text)).toBe(expected);
  });

  it("keeps a key that stands in the file itself", () => {
    const text =
      "Types: deb\nURIs: http://m.example/d\nSuites: bookworm\nComponents: main\nSigned-By:\n -----BEGIN PGP\n .\n abc\n";
    expect(rewrite("a.sources", text)).toBe(
      "Types: deb\nURIs: http://m.example/d\nSuites: forky\nComponents: main\nSigned-By: \n -----BEGIN PGP\n .\n abc\n",
    );
  });

  it.each([
    ["source packages only", "a.sources", deb822.replaceAll("Types: deb", "Types: deb-src")],
    ["switched off", "a.sources", deb822.replaceAll("Types: deb", "Enabled: no\nTypes: deb")],
    ["another release", "a.list", "deb http://mirror.example/debian trixie main\n"],
    ["commented out", "a.list", "# deb http://mirror.example/debian bookworm main\n"],
    ["nothing", "a.list", ""],
  ])("says which release it looked for when there is none: %s", (_, path, text) => {
    expect(() => rewrite(path, text)).toThrow(
      /no apt source of release bookworm found \(looked in a\.(list|sources)\)/,
    );
  });

  it("names the same archive once when both forms give it", () => {
    const list =
      "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://mirror.example/debian bookworm main";
    const files = [
      { path: "a.sources", text: deb822 },
      { path: "b.list", text: list },
    ];
    expect(rewriteAptSources({ files, codename: "bookworm", suite: "forky" })).toBe(wanted);
  });
});
