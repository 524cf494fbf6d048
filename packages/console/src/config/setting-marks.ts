import type { SettingEntry } from '@porthole/client';
import { formatCount } from '../ui/format.ts';
import { showValue } from './setting-text.ts';

/** The note after a line of a configuration. */
export interface SettingMark {
  text: string;
  isChanged: boolean;
}

/** Settings by their key. */
export type SettingsByKey = ReadonlyMap<string, SettingEntry>;

/** Where a value comes from, as shown to the user. */
export const SOURCE_LABELS: Readonly<Record<SettingEntry['source'], string>> = {
  default: 'default',
  file: 'file',
  env: 'environment',
  flag: 'flag',
  option: 'set by the program',
};

export function settingsByKey(settings: readonly SettingEntry[]): SettingsByKey {
  return new Map(settings.map((entry) => [entry.key, entry]));
}

/** `changed, default 5s · file`; `null` for values at their default or without a known default. */
export function settingMark(entry: SettingEntry | undefined): SettingMark | null {
  if (entry === undefined) return null;
  if (entry.changed)
    return { text: `changed, default ${defaultLabel(entry)} · ${SOURCE_LABELS[entry.source]}`, isChanged: true };
  // Shown because the file does not contain it.
  if (entry.source !== 'default' && entry.source !== 'file')
    return { text: SOURCE_LABELS[entry.source], isChanged: false };
  return null;
}

/** Summary of a whole configuration: `61 keys, 9 changed from default`. */
export function countSettings(settings: readonly SettingEntry[]): string {
  const keys = settings.length === 1 ? '1 key' : `${formatCount(settings.length)} keys`;
  if (settings.every(({ changed }) => changed === null)) return keys;
  return `${keys}, ${formatCount(settings.filter(({ changed }) => changed).length)} changed from default`;
}

export function defaultLabel({ default: defaultValue }: Pick<SettingEntry, 'default'>): string {
  return defaultValue === null ? 'unknown' : showValue(defaultValue).text;
}
