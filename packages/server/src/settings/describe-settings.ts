import type { NodeSettings, SettingEntry } from '@porthole/contract';
import type { SettingScalar } from './kinds/setting-kind.ts';
import { type LoadedSettings, loadSettings } from './load-settings.ts';
import { SettingsError } from './problems/settings-error.ts';
import { toMaskedJson } from './write-value.ts';

/** Each setting with its value, default and source, spelt as in the file; secrets are masked. */
export function settingEntries(loaded: LoadedSettings): SettingEntry[] {
  return loaded.values.map(({ definition, value, defaultValue, source }) => ({
    key: definition.key,
    value: toMaskedJson(definition, value),
    default: toMaskedJson(definition, defaultValue),
    changed: !equal(value, defaultValue),
    source,
    secret: definition.secret,
  }));
}

/**
 * The settings file as it is now against what was read at start. A file is broken when the node would refuse to start
 * with it, so values that are impossible together count; a change of comments or layout does not.
 */
export async function compareWithDisk(loaded: LoadedSettings): Promise<NodeSettings['disk']> {
  if (loaded.file === null) return { state: 'none', differs: [], detail: null };
  let now: LoadedSettings;
  try {
    now = await loadSettings({ ...loaded.sources, file: loaded.file });
  } catch (thrown) {
    if (!(thrown instanceof SettingsError)) throw thrown;
    const missing = thrown.problems.some(({ code }) => code === 'FILE_MISSING');
    return { state: missing ? 'missing' : 'broken', differs: [], detail: thrown.message };
  }
  const changes = loaded.values.flatMap(({ definition, defaultValue }) => {
    const { key } = definition;
    const [atStart, onDisk] = [loaded, now].map(({ fileValues }) => fileValues.get(key) ?? defaultValue);
    if (atStart === undefined || onDisk === undefined || equal(atStart, onDisk)) return [];
    return [{ key, atStart: toMaskedJson(definition, atStart), onDisk: toMaskedJson(definition, onDisk) }];
  });
  if (changes.length === 0) return { state: 'same', differs: [], detail: null };
  return { state: 'changed', differs: changes.map(({ key }) => key), detail: null, changes };
}

function equal(a: SettingScalar, b: SettingScalar): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
