import { type ConfigShape, flattenSettings, type SettingJson } from '@porthole/contract';
import { parse, TomlDate, type TomlTable, type TomlValue } from 'smol-toml';

/** Real configurations have hundreds; more is an attack. */
const MAX_SETTINGS = 20_000;

/** Deeper than any real configuration; protects the stack. */
const MAX_DEPTH = 64;

const TOML_SHAPE: ConfigShape<TomlValue> = {
  entries: (value) => (isTable(value) ? Object.entries(value).map(([key, inner]) => [[key], inner]) : undefined),
  elements: (value) => (Array.isArray(value) ? value : undefined),
  maxDepth: MAX_DEPTH,
};

/** Values by path, in the notation of node settings. Throws if it is not TOML. */
export function flattenToml(text: string): Map<string, SettingJson> {
  const settings = new Map<string, SettingJson>();
  const root = parse(text, { integersAsBigInt: 'asNeeded', maxDepth: MAX_DEPTH });
  for (const [key, value] of flattenSettings<TomlValue>(root, TOML_SHAPE)) {
    if (settings.size >= MAX_SETTINGS) throw new Error('too large to be a configuration');
    settings.set(key, toJson(value));
  }
  return settings;
}

function toJson(value: TomlValue): SettingJson {
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number' && !Number.isFinite(value))
    return String(value).replace('Infinity', 'inf').toLowerCase();
  if (typeof value === 'object') return value instanceof TomlDate ? value.toISOString() : {};
  return value;
}

function isTable(value: TomlValue): value is TomlTable {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof TomlDate);
}
