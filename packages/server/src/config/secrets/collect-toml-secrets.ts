import type { SettingJson } from '@porthole/contract';
import { flattenToml } from '../toml/flatten-toml.ts';
import { findTomlSecrets } from './toml-secrets.ts';

/** The secrets of a configuration, to be masked in logs. */
export interface KnownSecrets {
  values: string[];
  /** Keys of secrets that are too short or too common to be looked for. */
  unscrubbedKeys: string[];
}

/** All secrets of a TOML text, those in comments included. Throws `TomlError`. */
export function collectTomlSecrets(text: string, secretKeys: readonly string[]): KnownSecrets {
  const { values } = findTomlSecrets(text, secretKeys);
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
