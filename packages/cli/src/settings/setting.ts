import type { ValueKind } from "./value-kind.ts";

/** Where --help lists a setting. */
export type SettingGroup =
  | "Configuration"
  | "Node"
  | "Container runtime"
  | "Pods"
  | "Images"
  | "Listeners"
  | "Cgroups"
  | "Logging"
  | "Garbage";

/** What a setting is called. */
export interface SettingNames {
  /** The flag, without dashes. */
  readonly flag?: string;
  /** Its one-letter form. */
  readonly short?: string;
  /** Path of the field in a KubeletConfiguration (v1beta1), with dots. */
  readonly field?: string;
}

/** One setting: its names, its kind of value, what it is when nobody says, and what it does. */
export interface Setting<V> extends SettingNames {
  readonly kind: ValueKind<V>;
  readonly group: SettingGroup;
  readonly default: V;
  /** The default when a configuration file is read, where upstream has another one then. */
  readonly defaultWithFile?: V;
  readonly about: string;
  /** Upstream wants it in the configuration file instead. The flag goes on working. */
  readonly deprecated?: boolean;
  /** Flag and file are joined in place of the flag winning: true when one of them is. */
  readonly either?: true;
  /** Shown as `***` wherever the configuration is shown. */
  readonly secret?: true;
  /** What is wrong with a value, as the end of a sentence: "must be 0 or more". */
  readonly check?: (value: V) => string | undefined;
}

/** Binds a setting's type to its kind. */
export function setting<V>(description: Setting<V>): Setting<V> {
  return description;
}

/** How messages name a setting: as the flag, else as the field. */
export function settingName(names: SettingNames): string {
  return names.flag === undefined ? (names.field ?? "") : `--${names.flag}`;
}
