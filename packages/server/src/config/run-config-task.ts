import type { SettingJson } from '@porthole/contract';
import { type FlatSetting, flattenToml } from './flatten-config.ts';
import { TOML } from './formats/read-toml.ts';
import { redactToml } from './redact-config.ts';
import { findSecrets } from './secrets/config-secrets.ts';

/** A task on the text of a configuration, as data: it runs on this thread or another. */
export interface ConfigTask {
  kind: keyof ConfigResults;
  text: string;
  secretKeys: readonly string[];
}

export interface ConfigResults {
  /** The text with its secrets masked. */
  mask: string;
  settings: FlattenedConfig;
  secrets: KnownSecrets;
}

/** Every value by its key, and the masked ones in clear: `fingerprint` is the index of the clear value. */
export interface FlattenedConfig {
  flat: FlatSetting[];
  clear: (readonly [key: string, value: SettingJson])[];
}

export function runConfigTask({ kind, text, secretKeys }: ConfigTask): ConfigResults[ConfigTask['kind']] {
  switch (kind) {
    case 'mask':
      return redactToml(text, { secretKeys });
    case 'settings':
      return flatten(text, secretKeys);
    case 'secrets':
      return collectTomlSecrets(text, secretKeys);
  }
}

function flatten(text: string, secretKeys: readonly string[]): FlattenedConfig {
  const clear: FlattenedConfig['clear'] = [];
  const fingerprint = (key: string, value: SettingJson) => String(clear.push([key, value]) - 1);
  return { flat: flattenToml(text, { secretKeys, fingerprint }), clear };
}

/** The secrets of a configuration, to be masked in logs. */
export interface KnownSecrets {
  values: string[];
  /** Keys of secrets that are too short or too common to be looked for. */
  unscrubbedKeys: string[];
}

/** All secrets of a TOML text, those in comments included. Throws `TomlError`. */
export function collectTomlSecrets(text: string, secretKeys: readonly string[]): KnownSecrets {
  const { values } = findSecrets([TOML.read(text)], secretKeys);
  const clear = new Map<string, SettingJson>();
  const fingerprint = (key: string, value: SettingJson) => {
    clear.set(key, value);
    return '';
  };
  const settings = flattenToml(text, { secretKeys, fingerprint });
  const unscrubbed = settings.filter(
    ({ key, secret }) => secret && listTexts(clear.get(key)).some((value) => !values.has(value)),
  );
  return { values: [...values.long], unscrubbedKeys: unscrubbed.map(({ key }) => key) };
}

/** A value without a secret needs no fingerprint. */
function listTexts(value: SettingJson | undefined): string[] {
  if (Array.isArray(value)) return value.flatMap(listTexts);
  if (typeof value === 'number') return [String(value)];
  return typeof value === 'string' && value.trim() !== '' ? [value] : [];
}
