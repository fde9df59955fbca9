import { cgroupSettings } from "./groups/cgroup-settings.ts";
import { listenerSettings, loggingSettings } from "./groups/listener-settings.ts";
import { configurationSettings, nodeSettings } from "./groups/node-settings.ts";
import { podSettings, sourceSettings } from "./groups/pod-settings.ts";
import { garbageSettings, imageSettings, runtimeSettings } from "./groups/runtime-settings.ts";
import type { Setting } from "./setting.ts";

/**
 * Every setting of the program, as data: flags, configuration fields, --help and the checks are made from it. Names, types and defaults are
 * the kubelet's. A new setting is one more row.
 */
export const settingsTable = {
  ...configurationSettings,
  ...nodeSettings,
  ...runtimeSettings,
  ...sourceSettings,
  ...podSettings,
  ...imageSettings,
  ...listenerSettings,
  ...cgroupSettings,
  ...loggingSettings,
  ...garbageSettings,
};

type Table = typeof settingsTable;

/** The name of a setting in this program. */
export type SettingKey = keyof Table;

/** The value of every setting. */
export type Settings = { readonly [K in SettingKey]: Table[K] extends Setting<infer V> ? V : never };

/** All settings with their keys. */
export const settingEntries = Object.entries(settingsTable) as unknown as readonly (readonly [
  SettingKey,
  Setting<unknown>,
])[];
