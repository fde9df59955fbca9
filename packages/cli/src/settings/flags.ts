import { NodeletError } from "@nodelet/core";
import { nearest } from "./nearest.ts";
import { type Setting, settingName } from "./setting.ts";
import { type SettingKey, type Settings, settingEntries } from "./settings-table.ts";
import { parseBool } from "./value-kind.ts";

const byFlag = new Map(
  settingEntries.flatMap((entry) => (entry[1].flag === undefined ? [] : [[entry[1].flag, entry] as const])),
);

/** Settings that have a flag. */
export const flagSettings: readonly (readonly [SettingKey, Setting<unknown> & { readonly flag: string }])[] = [
  ...byFlag.values(),
].map(([key, setting]) => [key, { ...setting, flag: setting.flag ?? "" }]);

/**
 * Brings arguments into the form that the parser takes: `_` in a flag's name is `-` as for the kubelet, and a switch's value is `true` or
 * `false` whichever of Go's words it was. Throws `invalid` for a switch with another value. What follows `--` stays as it is.
 */
export function normalizeArguments(args: readonly string[]): string[] {
  const end = args.indexOf("--");
  const flags = end < 0 ? args : args.slice(0, end);
  const rest = end < 0 ? [] : args.slice(end);
  return [...flags.map(normalizeArgument), ...rest];
}

function normalizeArgument(argument: string): string {
  const parts = /^--(?<name>[^=]+)(?:=(?<value>.*))?$/s.exec(argument)?.groups;
  if (parts === undefined) return argument;
  const name = (parts["name"] ?? "").replaceAll("_", "-");
  const { value } = parts;
  if (value === undefined) return `--${name}`;
  if (byFlag.get(name)?.[1].kind.isSwitch !== true) return `--${name}=${value}`;
  const parsed = parseBool(value);
  if (parsed === undefined) throw wrongValue(name, { value, expected: "true or false" });
  return `--${name}=${parsed}`;
}

/**
 * The settings that were given as flags, from the parser's answer (texts, switches as booleans, lists for what was given more than once).
 * Throws `invalid` that names the flag, what was given and what was expected.
 */
export function readFlags(parsed: Readonly<Record<string, unknown>>): Partial<Settings> {
  const values: [SettingKey, unknown][] = [];
  for (const [key, setting] of flagSettings) {
    const given = parsed[setting.flag];
    if (given === undefined) continue;
    const texts = (Array.isArray(given) ? given : [given]).map(String);
    const last = texts.at(-1) ?? "";
    const [first = last, ...others] = setting.kind.repeated === true ? texts : [last];
    const value = setting.kind.fromFlag([first, ...others]);
    if (value === undefined) throw wrongValue(setting.flag, { value: last, expected: setting.kind.expected });
    const problem = setting.check?.(value);
    if (problem !== undefined) throw new NodeletError("invalid", `${settingName(setting)}=${last}: ${problem}`);
    values.push([key, value]);
  }
  return Object.fromEntries(values) as Partial<Settings>;
}

/** What to say of flags that nobody knows. */
export function unknownFlags(names: readonly string[], known: Iterable<string> = byFlag.keys()): string {
  const candidates = [...known];
  const parts = names.map((name) => {
    const shown = name.length === 1 ? `-${name}` : `--${name}`;
    const meant = nearest(name, candidates);
    return meant === undefined ? `unknown flag ${shown}` : `unknown flag ${shown}; did you mean --${meant}?`;
  });
  return parts.join("\n");
}

function wrongValue(flag: string, problem: { readonly value: string; readonly expected: string }): NodeletError {
  const { value, expected } = problem;
  return new NodeletError("invalid", `--${flag}: expected ${expected}, found ${JSON.stringify(value.slice(0, 200))}`);
}
