import { type FlatSetting, MASK } from '@porthole/server/config';
import type { ConfigDocument } from './config-document.ts';

type Value = FlatSetting['value'];

/** A key with both values; a value is absent where a configuration does not have the key. */
export interface Difference {
  key: string;
  a?: Value;
  b?: Value;
}

export interface Comparison {
  /** Sorted by key. */
  differences: Difference[];
  /** Keys whose values are masked on both sides. */
  uncomparable: string[];
  /** All keys of both, sorted. */
  all: Difference[];
}

/** Compares key by key. Values are equal if their JSON is: 1 is not "1". */
export function compareConfigs(a: ConfigDocument, b: ConfigDocument): Comparison {
  const [left, right] = [valuesByKey(a), valuesByKey(b)];
  const keys = [...new Set([...left.keys(), ...right.keys()])].sort();
  const all = keys.map((key) => ({ key, ...valueAt(left, 'a', key), ...valueAt(right, 'b', key) }));
  return {
    all,
    differences: all.filter((pair) => !isSame(pair)),
    uncomparable: all.filter((pair) => isSame(pair) && holdsMask(pair.a)).map(({ key }) => key),
  };
}

export function isSame({ a, b }: Difference): boolean {
  return a !== undefined && b !== undefined && JSON.stringify(a) === JSON.stringify(b);
}

function valuesByKey({ settings }: ConfigDocument): Map<string, Value> {
  return new Map(settings.map(({ key, value }) => [key, value]));
}

function valueAt(values: Map<string, Value>, name: 'a' | 'b', key: string): Omit<Difference, 'key'> {
  const value = values.get(key);
  return value === undefined ? {} : { [name]: value };
}

function holdsMask(value: Value | undefined): boolean {
  return JSON.stringify(value)?.includes(MASK) ?? false;
}
