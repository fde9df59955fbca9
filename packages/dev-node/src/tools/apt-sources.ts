import { DevNodeError } from "../errors.ts";

/** What {@link rewriteAptSources} works on. */
export interface AptSourcesInput {
  /** The machine's source files, in both of apt's forms: one-line `.list` and deb822 `.sources` (sources.list(5)). */
  files: readonly { path: string; text: string }[];
  /** The release that the machine runs, from VERSION_CODENAME in os-release: "bookworm". */
  codename: string;
  /** The suite wanted in its place: "forky". */
  suite: string;
}

interface AptEntry {
  uris: readonly string[];
  suites: readonly string[];
  /** Options of the entry in deb822 spelling, for example Signed-By. */
  options: readonly (readonly [string, string])[];
}

/**
 * The machine's own archive, pointed at another suite, in deb822 form. Mirror, keyring and other options stay the
 * machine's own, so nothing here names a host. Only entries of the plain release are taken (suite equal to the
 * codename, or to its alias "stable"): security and update archives have no counterpart for other suites.
 */
export function rewriteAptSources(input: AptSourcesInput): string {
  const entries = input.files.flatMap(({ path, text }) =>
    path.endsWith(".sources") ? parseDeb822(text) : parseList(text),
  );
  const wanted = entries.filter(({ suites }) => suites.some((suite) => suite === input.codename || suite === "stable"));
  if (wanted.length === 0) {
    const looked = input.files.map(({ path }) => path).join(", ") || "no source file at all";
    throw new DevNodeError(
      "tool",
      `no apt source of release ${input.codename} found (looked in ${looked}): add a "deb" entry for ${input.codename} main`,
    );
  }
  const stanzas = wanted.map(({ uris, options }) =>
    [
      "Types: deb",
      `URIs: ${uris.join(" ")}`,
      `Suites: ${input.suite}`,
      "Components: main",
      ...options.map(([name, value]) => `${name}: ${value}`),
    ].join("\n"),
  );
  return `${[...new Set(stanzas)].join("\n\n")}\n`;
}

const droppedFields = new Set(["types", "uris", "suites", "components", "enabled"]);

function parseDeb822(text: string): AptEntry[] {
  const lines = text.split("\n").filter((line) => !line.startsWith("#"));
  return lines
    .join("\n")
    .split(/\n\s*\n/)
    .flatMap((stanza) => {
      const fields = new Map<string, { name: string; value: string }>();
      let last: { name: string; value: string } | undefined;
      for (const line of stanza.split("\n")) {
        const match = /^([!-9;-~]+):\s*(.*)$/.exec(line);
        if (/^[ \t]/.test(line) && last !== undefined) {
          last.value += `\n${line}`;
        } else if (match?.[1] !== undefined && match[2] !== undefined) {
          last = { name: match[1], value: match[2] };
          fields.set(match[1].toLowerCase(), last);
        }
      }
      const words = (name: string): string[] => fields.get(name)?.value.split(/\s+/).filter(Boolean) ?? [];
      if (!words("types").includes("deb") || words("enabled")[0] === "no") {
        return [];
      }
      const options = [...fields]
        .filter(([key]) => !droppedFields.has(key))
        .map(([, field]) => [field.name, field.value] as const);
      return [{ uris: words("uris"), suites: words("suites"), options }];
    });
}

/** Options that are spelled differently in the two forms of apt's sources. */
const listOptionNames: Readonly<Record<string, string>> = {
  "signed-by": "Signed-By",
  arch: "Architectures",
  trusted: "Trusted",
  "check-valid-until": "Check-Valid-Until",
};

function parseList(text: string): AptEntry[] {
  return text.split("\n").flatMap((raw) => {
    const match = /^\s*deb\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)\s/.exec(`${raw.replace(/#.*/, "")} `);
    if (match?.[2] === undefined || match[3] === undefined) {
      return [];
    }
    const options = (match[1] ?? "").split(/\s+/).flatMap((option) => {
      const [key = "", value] = option.split("=", 2);
      const name = listOptionNames[key.toLowerCase()];
      return name === undefined || value === undefined ? [] : [[name, value.replaceAll(",", " ")] as const];
    });
    return [{ uris: [match[2]], suites: [match[3]], options }];
  });
}
