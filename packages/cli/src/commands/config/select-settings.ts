import { nearestNames } from '@porthole/logs';
import type { FlatSetting } from '@porthole/server/config';
import { isWithin, type KeyPath, parseKeyPath } from './key-path.ts';

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
function settingNames(settings: readonly FlatSetting[]): string[] {
  const names = new Set<string>();
  for (const { key } of settings) {
    names.add(key);
    for (let dot = key.lastIndexOf('.'); dot > 0; dot = key.lastIndexOf('.', dot - 1)) names.add(key.slice(0, dot));
  }
  return [...names];
}
