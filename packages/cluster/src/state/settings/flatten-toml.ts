import type { SettingJson } from '@porthole/contract';
import { parse, TomlDate, type TomlTable, type TomlValue } from 'smol-toml';

/** Real configurations have hundreds; more is an attack. */
const MAX_SETTINGS = 20_000;

/** Deeper than any real configuration; protects the stack. */
const MAX_DEPTH = 64;

/**
 * Flattens TOML to values by path, like `servers[0]."host name".port`, the notation of node settings. Tables within arrays are
 * numbered from 0; an array without tables is one value. Throws if it is not TOML.
 */
export function flattenToml(text: string): Map<string, SettingJson> {
  const settings = new Map<string, SettingJson>();
  const visit = (path: string, value: TomlValue, depth: number): void => {
    if (depth > MAX_DEPTH || settings.size > MAX_SETTINGS) throw new Error('too large to be a configuration');
    if (isTable(value)) {
      for (const [name, inner] of Object.entries(value)) visit(join(path, name), inner, depth + 1);
    } else if (Array.isArray(value) && holdsTable(value)) {
      for (const [index, element] of value.entries()) visit(`${path}[${index}]`, element, depth + 1);
    } else {
      settings.set(path, toJson(value));
    }
  };
  visit('', parse(text, { integersAsBigInt: 'asNeeded', maxDepth: MAX_DEPTH }), 0);
  return settings;
}

function join(path: string, name: string): string {
  const written = /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
  return path === '' ? written : `${path}.${written}`;
}

function toJson(value: TomlValue): SettingJson {
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number' && !Number.isFinite(value))
    return String(value).replace('Infinity', 'inf').toLowerCase();
  if (typeof value === 'object') return value instanceof TomlDate ? value.toISOString() : {};
  return value;
}

function holdsTable(value: TomlValue): boolean {
  return isTable(value) || (Array.isArray(value) && value.some(holdsTable));
}

function isTable(value: TomlValue): value is TomlTable {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof TomlDate);
}
