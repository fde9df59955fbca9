import { type LoadedConfig, loadConfig } from "./load-config.ts";
import type { Setting } from "./setting.ts";
import { type SettingKey, type Settings, settingEntries, settingsTable } from "./settings-table.ts";

/** Every setting with its value, and what people should know about how it came. */
export interface ResolvedSettings {
  readonly values: Settings;
  readonly warnings: readonly string[];
  /** Flags that were given although the file is their place. */
  readonly deprecatedFlags: readonly string[];
  readonly files: readonly string[];
}

/** Reads the configuration files that the flags name and settles every value: flag, then drop-in, then file, then default. */
export async function loadSettings(flags: Partial<Settings>): Promise<ResolvedSettings> {
  const config = flags.config ?? settingsTable.config.default;
  const configDir = flags.configDir ?? settingsTable.configDir.default;
  return resolveSettings({ flags, file: await loadConfig({ config, configDir }), hasFile: config !== "" });
}

/** The values out of what was given. Pure. `hasFile`: --config was given, where upstream has other defaults. */
export function resolveSettings(given: {
  readonly flags: Partial<Settings>;
  readonly file: LoadedConfig;
  readonly hasFile: boolean;
}): ResolvedSettings {
  const { flags, file, hasFile } = given;
  const values = settingEntries.map(([key, setting]): [SettingKey, unknown] => {
    const base = hasFile && setting.defaultWithFile !== undefined ? setting.defaultWithFile : setting.default;
    return [key, [file.values[key], flags[key]].reduce((earlier, later) => join(setting, { earlier, later }), base)];
  });
  const deprecated = settingEntries.filter(([key, setting]) => setting.deprecated === true && flags[key] !== undefined);
  return {
    values: Object.fromEntries(values) as unknown as Settings,
    warnings: file.warnings,
    deprecatedFlags: deprecated.map(([, { flag = "" }]) => `--${flag}`),
    files: file.files,
  };
}

function join(setting: Setting<unknown>, values: { readonly earlier: unknown; readonly later: unknown }): unknown {
  const { earlier, later } = values;
  if (later === undefined) return earlier;
  if (setting.either === true) return earlier === true || later === true;
  return setting.kind.merge?.(earlier, later) ?? later;
}
