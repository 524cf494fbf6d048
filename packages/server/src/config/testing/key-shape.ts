import type { TomlTable, TomlValue } from 'smol-toml';

/** The shape of a document without its values: what redaction must not change. */
type Keys = string | Keys[] | { [key: string]: Keys };

export function keyShape(value: TomlTable | TomlValue): Keys {
  if (Array.isArray(value)) return value.map(keyShape);
  if (typeof value !== 'object' || value instanceof Date) return 'value';
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, keyShape(inner)]));
}
