import { type ConfigShape, flattenSettings, PortholeError, type SettingSource } from '@porthole/contract';
import { type ConfigOption, MarkedValue, type Marks } from './mark.ts';
import type { ConfigText } from './service-config.ts';

/** Starting a node and every request for the configuration wait for it. */
const TIMEOUT_MS = 10_000;

/** Reads the configuration that a program gives. Throws `CONFIG_UNAVAILABLE` for whatever goes wrong there. */
export function createConfigReader(
  config: ConfigOption,
  { maxBytes }: { maxBytes: number },
): () => Promise<ConfigText> {
  return async () => {
    const given: unknown = typeof config === 'function' ? await callConfig(config as () => unknown) : config;
    const { text, ...shown } = typeof given === 'string' ? { text: given, secretKeys: [] } : await renderObject(given);
    if (text.length <= maxBytes) return { ...shown, files: [{ path: 'config.toml', text }] };
    throw unavailable(`it is larger than ${maxBytes} bytes, the limit set by config.max-bytes`);
  };
}

type RenderedConfig = Omit<ConfigText, 'files'> & { text: string };

async function renderObject(given: unknown): Promise<RenderedConfig> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw unavailable(`expected an object or TOML text, found ${given === null ? 'null' : typeof given}`);
  try {
    return await renderConfig(given);
  } catch (error) {
    if (error instanceof PortholeError) throw error;
    throw unavailable('it is not an object of plain values', error);
  }
}

/** Without the message of the error, which may contain a secret. */
async function callConfig(config: () => unknown): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unavailable(`it was not returned within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
  });
  try {
    return await Promise.race([config(), late]);
  } catch (error) {
    if (error instanceof PortholeError) throw error;
    throw unavailable(`the function threw ${error instanceof Error ? error.name : typeof error}`, error);
  } finally {
    clearTimeout(timer);
  }
}

function unavailable(reason: string, cause?: unknown): PortholeError {
  return new PortholeError('CONFIG_UNAVAILABLE', `option config: the configuration cannot be shown: ${reason}`, {
    cause,
  });
}

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
async function renderConfig(config: object): Promise<RenderedConfig> {
  const secretKeys = new Set<string>();
  const root = renderValue(config, { path: [], marks: { source: 'option' }, secretKeys });
  const sources = new Map<string, SettingSource>();
  for (const [key, { marks }] of flattenSettings(root, SHAPE)) sources.set(key, marks.source ?? 'option');
  // Loaded on demand: few programs give an object.
  const { stringify } = await import('smol-toml');
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
