import { expect, test } from 'vitest';
import { describeKind } from '../testing/describe-kind.ts';
import { duration, port, size } from './number-kinds.ts';
import { list, onOff, refusalText, type SettingKind } from './setting-kind.ts';
import { host, path, string } from './text-kinds.ts';

const BASE = '/base';

test.each<{ kind: SettingKind; value: unknown }>([
  { kind: duration({ min: '1s', max: '1d' }), value: 999 },
  { kind: duration({ min: '1s', max: '1d' }), value: '30s' },
  { kind: size({ min: '1B', max: '1MiB' }), value: 1.5 },
  { kind: port(), value: Number.NaN },
  { kind: port(), value: '80' },
  { kind: string(), value: 5 },
  { kind: onOff(), value: 'true' },
  { kind: list(host(), { plural: 'hosts' }), value: 'a' },
  { kind: list(host(), { plural: 'hosts' }), value: [5] },
  { kind: path(), value: null },
])('a program cannot give a $kind.name the value $value', ({ kind, value }) => {
  expect(kind.fromOption(value, BASE)).toHaveProperty('refused');
});

test('the refused value of a secret setting is not repeated', () => {
  for (const reading of [string().fromText('hunter2\n', BASE), port().fromToml('hunter2', BASE)]) {
    if (!('refused' in reading)) throw new Error('accepted');
    expect(refusalText(reading, { secret: true })).not.toContain('hunter2');
    expect(refusalText(reading, { secret: false })).toContain('hunter2');
  }
});

describeKind('list of hosts', {
  kind: list(host(), { plural: 'hosts' }),
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
  kind: onOff(),
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
