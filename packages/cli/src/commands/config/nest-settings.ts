import type { FlatSetting } from '@porthole/server/config';
import { type KeyPath, parseKeyPath } from './key-path.ts';

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
