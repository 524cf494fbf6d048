import { type ConfigShape, flattenSettings, PortholeError, type SettingSource } from '@porthole/contract';
import { stringify } from 'smol-toml';
import { MarkedValue, type Marks } from './mark.ts';
import type { ConfigText } from './service-config.ts';

/** Deeper objects are not configurations, but refer to each other in circles. */
const MAX_DEPTH = 24;

/** A value as TOML writes it, and what is known of it. */
interface Rendered {
  toml: unknown;
  marks: Marks;
  entries?: (readonly [key: string, value: Rendered])[];
  items?: Rendered[];
}

const SHAPE: ConfigShape<Rendered> = {
  entries: ({ entries }) => entries?.map(([key, value]) => [[key], value]),
  elements: ({ items }) => items,
  hasEmptyTables: true,
};

/** The TOML text of a configuration object, with the keys it marks as secret and the sources of the others. */
export function renderConfig(config: object): ConfigText {
  const secretKeys = new Set<string>();
  const root = renderValue(config, { path: [], marks: { source: 'option' }, secretKeys });
  const sources = new Map<string, SettingSource>();
  for (const [key, { marks }] of flattenSettings(root, SHAPE)) sources.set(key, marks.source ?? 'option');
  return { text: stringify(root.toml), secretKeys: [...secretKeys], sources };
}

interface Position {
  /** Keys, without the numbers of list elements. */
  path: readonly string[];
  marks: Marks;
  secretKeys: Set<string>;
  depth?: number;
}

function renderValue(given: unknown, position: Position): Rendered {
  const { path, secretKeys, depth = 0 } = position;
  if (depth > MAX_DEPTH) throw refuse(path, 'it is nested too deeply, or contains itself');
  if (given instanceof MarkedValue) {
    if (given.marks.secret) secretKeys.add(path.join('.'));
    return renderValue(given.value, { ...position, marks: { ...position.marks, ...given.marks } });
  }
  const value = toPlain(given, path);
  const inner = { ...position, depth: depth + 1 };
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => renderValue(item ?? 'null', inner));
    return { toml: items.map(({ toml }) => toml), marks: position.marks, items };
  }
  if (typeof value === 'object' && !(value instanceof Date)) {
    const entries = Object.keys(value).flatMap((key) => {
      const own = readProperty(value, key, path);
      const isMissing = (own instanceof MarkedValue ? own.value : own) ?? undefined;
      return isMissing === undefined ? [] : [[key, renderValue(own, { ...inner, path: [...path, key] })] as const];
    });
    const toml = Object.fromEntries(entries.map(([key, rendered]) => [key, rendered.toml]));
    return { toml, marks: position.marks, entries };
  }
  return { toml: value, marks: position.marks };
}

/** Values that TOML does not have are described, so that one of them does not hide the rest. */
function toPlain(value: unknown, path: readonly string[]): string | number | bigint | boolean | Date | object {
  if (typeof value === 'function') return '[function]';
  if (typeof value === 'symbol') return String(value);
  if (typeof value !== 'object' || value === null) return (value as string | number | bigint | boolean) ?? '';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value;
  if (value instanceof URL) return value.href;
  if (value instanceof RegExp) return String(value);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  const toJson = readProperty(value, 'toJSON', path);
  if (typeof toJson !== 'function') return value;
  const json: unknown = Reflect.apply(toJson, value, ['']);
  return typeof json === 'object' && json !== null ? json : toPlain(json, path);
}

/** A getter may throw anything. */
function readProperty(value: object, key: string, path: readonly string[]): unknown {
  try {
    return Reflect.get(value, key);
  } catch (error) {
    throw refuse([...path, key], 'reading it threw an error', error);
  }
}

function refuse(path: readonly string[], reason: string, cause?: unknown): PortholeError {
  return new PortholeError('CONFIG_UNAVAILABLE', `option config: ${path.join('.')} cannot be shown: ${reason}`, {
    cause,
  });
}
