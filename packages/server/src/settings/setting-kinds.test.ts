import { expect, test } from 'vitest';
import { duration, integer, list, onOff, port, type SettingKind, size, text } from './setting-kinds.ts';
import { describeKind } from './testing/describe-kind.ts';

const BASE = '/base';

test.each<{ kind: SettingKind; value: unknown }>([
  { kind: duration('1s', '1d'), value: 999 },
  { kind: duration('1s', '1d'), value: '30s' },
  { kind: size('1B', '1MiB'), value: 1.5 },
  { kind: port, value: Number.NaN },
  { kind: port, value: '80' },
  { kind: text.string, value: 5 },
  { kind: onOff, value: 'true' },
  { kind: list(text.host, 'hosts'), value: 'a' },
  { kind: list(text.host, 'hosts'), value: [5] },
  { kind: text.path, value: null },
])('a program cannot give a $kind.name the value $value', ({ kind, value }) => {
  expect(kind.read(value, { form: 'option', baseDir: BASE })).toHaveProperty('refused');
});

describeKind('list of hosts', {
  kind: list(text.host, 'hosts'),
  text: [
    ['', []],
    ['a', ['a']],
    ['a, B ,,c,', ['a', 'b', 'c']],
  ],
  toml: [
    [[], []],
    [
      ['a', 'B'],
      ['a', 'b'],
    ],
  ],
  refusedText: ['a b', 'a,http://x', Array.from({ length: 257 }, () => 'a').join(',')],
  refusedToml: ['a', [1n], ['a', ''], [['a']], Array.from({ length: 257 }, () => 'a')],
});

describeKind('boolean', {
  kind: onOff,
  text: [
    ['true', true],
    ['Yes', true],
    ['on', true],
    ['1', true],
    ['FALSE', false],
    ['no', false],
    ['off', false],
    ['0', false],
  ],
  toml: [
    [true, true],
    [false, false],
  ],
  refusedText: ['', '2', 'y', ' true', 'enabled'],
  refusedToml: ['true', 1n, 0n],
});

describeKind('port', {
  kind: port,
  text: [
    ['0', 0],
    ['7300', 7300],
    ['65535', 65_535],
  ],
  toml: [
    [0n, 0],
    [65_535n, 65_535],
  ],
  refusedText: ['', 'abc', '65536', '-1', '7300.0', '1e3', '0x10', '007', ' 80', '80 ', '１', '9'.repeat(400)],
  refusedToml: [65_536n, -1n, 7300.0, '7300', true, 10n ** 400n],
});

describeKind('integer', {
  kind: integer(-5, 128),
  text: [
    ['-5', -5],
    ['128', 128],
  ],
  toml: [[-5n, -5]],
  refusedText: ['-6', '129', '+1', '1_000', 'Infinity', 'NaN'],
  refusedToml: [129n, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '1', [1n]],
});

describeKind('duration', {
  kind: duration('10ms', '30d'),
  text: [
    ['10ms', 10],
    ['30s', 30_000],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['7d', 604_800_000],
    ['90S', 90_000],
    ['1.5h', 5_400_000],
    ['1h30m', 5_400_000],
    ['30 s', 30_000],
    ['2w', 1_209_600_000],
  ],
  toml: [['30s', 30_000]],
  refusedText: ['', '30', '9ms', '31d', '5M', '-5s', '30 parsecs', 's', '99999999999999999d', '9'.repeat(400)],
  refusedToml: [30n, 30.5, true, ['30s']],
});

describeKind('size', {
  kind: size('1KiB', '1TiB'),
  text: [
    ['64MiB', 67_108_864],
    ['16kib', 16_384],
    ['1GiB', 1_073_741_824],
    ['10MB', 10_000_000],
    ['1TB', 1e12],
    ['2048', 2048],
    ['2048B', 2048],
  ],
  toml: [
    ['64MiB', 67_108_864],
    [2048n, 2048],
    ['2048', 2048],
  ],
  refusedText: ['', '1023', '64M', '64Mi', '1.5MiB', '2TiB', '-1MiB', '64 MiB', '9999999999999999TiB'],
  refusedToml: [1023n, 4096.0, false, 2n ** 63n],
});

test.each([
  [90_000, '90s'],
  [86_400_000, '1d'],
  [1500, '1500ms'],
  [0, '0s'],
])('a duration of %i ms is written %s', (ms, written) => {
  expect(duration('0s', '1d').toJson(ms)).toBe(written);
});

test.each([
  [67_108_864, '64MiB'],
  [10_000_000, '10MB'],
  [1_024_000, '1000KiB'],
  [1001, 1001],
  [0, 0],
])('a size of %i bytes is written %s', (bytes, written) => {
  expect(size('0B', '1GiB').toJson(bytes)).toBe(written);
});
