import { error, type Finding } from "./finding.ts";

/**
 * Words that must not be in committed files: hosts of package registries (packages are named, never where they were
 * fetched from) and the folders and habits of the place where a change was written, which mean nothing to a reader.
 * Upstream's container registry names are data of Kubernetes and stay.
 */
const forbidden: readonly { pattern: RegExp; what: string }[] = [
  {
    pattern: /\bregistry\.(?!k8s\.io\b|example\b|test\b|local)[a-z0-9-]+\.(?:org|com|net|dev)\b/i,
    what: "the host of a package registry",
  },
  {
    pattern: /\b(?:deb|ftp|snapshot|archive|security)\.(?:debian|ubuntu)\.(?:org|com)\b/i,
    what: "the host of a package registry",
  },
  { pattern: /\b(?:proxy|sum)\.golang\.org\b|\bfiles\.pythonhosted\.org\b/i, what: "the host of a package registry" },
  { pattern: /(?<![\w.-])\/work\/(?:main|shared|\.)/, what: "a folder of one workplace" },
  {
    pattern: /(?<![\w/-])(?:\.\.\/)*shared\/(?:facts|cases|uml|design|style|machine)\b/,
    what: "a folder of one workplace",
  },
  { pattern: /(?<!\w)\/tmp\/nodelet\//, what: "a folder of one workplace" },
  {
    pattern: /\bissues? show\b|\b(?:this|next|previous) session\b|\bissue (?:#\s?)?\d+\b(?!.*github)/i,
    what: "a word about how the work was organised",
  },
];

/** Looks through the text of committed files. `read` returns undefined for what is not text. */
export function checkWords(paths: readonly string[], read: (path: string) => string | undefined): Finding[] {
  return paths.flatMap((path) => {
    const text = read(path);
    if (text === undefined) {
      return [];
    }
    return text
      .split("\n")
      .flatMap((line, index) =>
        forbidden
          .filter(({ pattern }) => pattern.test(line))
          .map(({ pattern, what }) => error(path, `"${line.match(pattern)?.[0]}" is ${what}: take it out`, index + 1)),
      );
  });
}
