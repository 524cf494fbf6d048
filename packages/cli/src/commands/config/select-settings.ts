import { nearestNames } from '@porthole/logs';
import type { FlatSetting } from '@porthole/server/config';

export interface Selection {
  settings: FlatSetting[];
  isWanted(path: KeyPath): boolean;
  /** Keys that do not exist, each with similar names. */
  unknown: { key: string; near: string[] }[];
}

/** The settings with these keys or in these tables; all without keys. */
export function selectSettings(all: readonly FlatSetting[], keys: readonly string[]): Selection {
  const withPaths = all.map((setting) => ({ setting, path: parseKeyPath(setting.key) ?? [setting.key] }));
  const wanted = keys.map((key) => ({ key, path: parseKeyPath(key) ?? [key] }));
  const isWanted = (path: KeyPath) => keys.length === 0 || wanted.some((key) => isWithin(path, key.path));
  const unknown = wanted.filter((key) => !withPaths.some(({ path }) => isWithin(path, key.path)));
  return {
    settings: withPaths.filter(({ path }) => isWanted(path)).map(({ setting }) => setting),
    isWanted,
    unknown: unknown.map(({ key }) => ({ key, near: nearestNames(key, settingNames(all)) })),
  };
}

/** All keys and their tables. */
export function settingNames(settings: readonly FlatSetting[]): string[] {
  const names = new Set<string>();
  for (const { key } of settings) {
    names.add(key);
    for (let dot = key.lastIndexOf('.'); dot > 0; dot = key.lastIndexOf('.', dot - 1)) names.add(key.slice(0, dot));
  }
  return [...names];
}

/** A table or array. Tables have no prototype, so that keys like `constructor` are plain keys. */
type Branch = { [key: string]: unknown } | unknown[];

/** The settings as nested objects. */
export function nestSettings(settings: readonly FlatSetting[]): Branch {
  const root: Branch = Object.create(null);
  for (const { key, value } of settings) put(root, parseKeyPath(key) ?? [key], value);
  return withoutHoles(root) as Branch;
}

function put(root: Branch, path: KeyPath, value: unknown): void {
  let branch = root as Record<string | number, unknown>;
  for (const [depth, part] of path.slice(0, -1).entries()) {
    branch[part] ??= typeof path[depth + 1] === 'number' ? [] : Object.create(null);
    branch = branch[part] as Record<string | number, unknown>;
  }
  branch[path.at(-1) ?? ''] = value;
}

/** Removes the array elements that were not selected. */
function withoutHoles(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter(() => true).map(withoutHoles);
  if (typeof value !== 'object' || value === null) return value;
  for (const [key, inner] of Object.entries(value)) (value as Record<string, unknown>)[key] = withoutHoles(inner);
  return value;
}

/** Names of tables and keys, and indices into arrays of tables. */
type KeyPath = readonly (string | number)[];

const PART = /(?:^|\.)(?:([\w-]+)|("(?:[^"\\]|\\.)*"))|\[(\d+)\]/y;

/** Parses `servers[0]."host name".port`; `undefined` if it is not a key path. */
export function parseKeyPath(text: string): KeyPath | undefined {
  const path: (string | number)[] = [];
  PART.lastIndex = 0;
  while (PART.lastIndex < text.length) {
    const [, bare, quoted, index] = PART.exec(text) ?? [];
    const part = bare ?? (index === undefined ? unquote(quoted) : Number(index));
    if (part === undefined) return undefined;
    path.push(part);
  }
  return path.length > 0 ? path : undefined;
}

/** Whether two key paths name the same key, however they are quoted. */
export function isSameKey(a: string, b: string): boolean {
  const [left, right] = [parseKeyPath(a) ?? [a], parseKeyPath(b) ?? [b]];
  return left.length === right.length && isWithin(left, right);
}

/** Whether the path equals the other one or is below it. */
export function isWithin(path: KeyPath, outer: KeyPath): boolean {
  return outer.length <= path.length && outer.every((part, index) => part === path[index]);
}

function unquote(quoted: string | undefined): string | undefined {
  if (quoted === undefined) return undefined;
  try {
    return String(JSON.parse(quoted));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
