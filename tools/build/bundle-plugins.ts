import { builtinModules, createRequire } from "node:module";
import type { Plugin } from "rolldown";

const builtins = new Set(builtinModules.filter((name) => name !== "module" && !name.startsWith("_")));
const require = createRequire(import.meta.url);

/**
 * Lets the bundle take Node.js' modules by `process.getBuiltinModule`. An import of one reads all its exports, and some of them are getters that load
 * more: `node:http` alone brings a whole HTTP client of 0.8 MB of source that nobody asked for (about 6 MB of memory and 40 ms).
 */
export function leanBuiltins(): Plugin {
  const prefix = "\0builtin:";
  return {
    name: "lean-builtins",
    resolveId(id, _importer, { kind }) {
      const name = id.replace(/^node:/, "");
      if (!builtins.has(name) || kind === "require-call") return null;
      return { id: `${prefix}${name}`, moduleSideEffects: false };
    },
    load(id) {
      if (!id.startsWith(prefix)) return null;
      const name = id.slice(prefix.length);
      const exported = Object.keys(require(`node:${name}`) as object).filter((key) => /^[A-Za-z]\w*$/.test(key));
      const lines = exported
        .filter((key) => key !== "default")
        .map((key) => `const _${key} = builtin.${key};\nexport { _${key} as ${key} };`);
      return {
        code: `const builtin = process.getBuiltinModule("node:${name}");\nexport default builtin;\n${lines.join("\n")}\n`,
        moduleSideEffects: false,
      };
    },
  };
}

/** Puts other source in the place of packages, by name. */
export function standIns(sources: Readonly<Record<string, string>>): Plugin {
  const prefix = "\0stand-in:";
  return {
    name: "stand-ins",
    resolveId: (id) => (Object.hasOwn(sources, id) ? { id: `${prefix}${id}`, moduleSideEffects: false } : null),
    load: (id) => (id.startsWith(prefix) ? (sources[id.slice(prefix.length)] ?? null) : null),
  };
}

/**
 * Writes everything beyond ASCII as an escape: one such character makes Node.js keep the whole source in two bytes a character. Columns of the
 * source map behind it move on; lines do not.
 */
export function asciiText(): Plugin {
  return {
    name: "ascii-text",
    generateBundle(_options, bundle) {
      for (const output of Object.values(bundle)) {
        if (output.type !== "chunk") continue;
        // A backslash before the character would escape the escape.
        const unsafe = /\\[^\0-\x7f]/.exec(output.code);
        if (unsafe !== null) throw new Error(`cannot be written in ASCII: ${unsafe[0]} in ${output.fileName}`);
        output.code = output.code.replace(
          /[^\0-\x7f]/g,
          (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
        );
      }
    },
  };
}
