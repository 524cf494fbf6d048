import { expect, it } from 'vitest';
import type { SettingJson } from '../node-state.ts';
import { canonicalValue } from './canonical-value.ts';

it.each<[SettingJson, SettingJson]>([
  ['10s', '10000ms'],
  ['10s', '0h0m10s'],
  ['1.5s', '1500ms'],
  ['1h30m', '90m'],
  ['0.1s', '100ms'],
  ['1d', '24h'],
  ['10us', '10µs'],
  ['1GiB', '1024MiB'],
  ['1GiB', 1_073_741_824],
  ['1 gib', '1073741824'],
  ['1024B', '1KiB'],
  ['64MB', '65536kB'],
  ['1GB', '1024 mb'],
  ['5min', '300s'],
  [true, 'true'],
  ['TRUE', 'true'],
  [8, '8'],
  [8, '8.0'],
  ['1.50', 1.5],
  ['1e3', 1000],
  [' 8 ', 8],
  [
    ['10s', 8],
    ['10000ms', '8'],
  ],
])('%j and %j mean the same', (a, b) => {
  expect(canonicalValue(a)).toBe(canonicalValue(b));
});

it.each<[SettingJson, SettingJson]>([
  ['10s', '10m'],
  ['10s', 10],
  ['10m', '10M'],
  ['1GB', '1GiB'],
  ['1GB', '1000MB'],
  ['64MB', 67_108_864],
  [true, 'yes'],
  [1, true],
  ['007', 7],
  ['12345678901234567890', '12345678901234567891'],
  ['a', 'A'],
  ['a', ' a'],
  ['', 0],
  [
    ['a', 'b'],
    ['b', 'a'],
  ],
  [['a,b'], ['a', 'b']],
  ['["a"]', ['a']],
  ['-1s', '1s'],
])('%j and %j do not', (a, b) => {
  expect(canonicalValue(a)).not.toBe(canonicalValue(b));
});
