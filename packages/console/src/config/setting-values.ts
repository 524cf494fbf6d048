import type { SettingEntry, SettingJson } from '@porthole/client';
import { formatCount } from '../ui/format.ts';
import { MASK } from './toml-tokens.ts';

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

/** A value as it is shown. */
export interface ShownValue {
  text: string;
  /** `absent` and `empty` describe the value; they are not the value itself. */
  kind: 'value' | 'absent' | 'empty' | 'secret';
  /** The first characters of a secret's fingerprint. */
  fingerprint: string | null;
}

/** Enough to distinguish two fingerprints; the title has all of it. */
const SHORT_FINGERPRINT = 4;

/** How the cluster encodes a masked value with its fingerprint. */
const FINGERPRINT = /^(.*) \(fingerprint (\S+)\)$/s;

/** Secrets stay masked: their values never reach the browser. */
export function showValue(value: SettingJson | null): ShownValue {
  if (value === null) return { text: 'absent', kind: 'absent', fingerprint: null };
  if (value === '') return { text: 'empty', kind: 'empty', fingerprint: null };
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (!text.includes(MASK)) return { text, kind: 'value', fingerprint: null };
  const [, masked = text, fingerprint = null] = FINGERPRINT.exec(text) ?? [];
  return { text: masked, kind: 'secret', fingerprint };
}

export function shortFingerprint(fingerprint: string): string {
  return fingerprint.slice(0, SHORT_FINGERPRINT);
}
