import { expect, test } from 'vitest';
import { list } from './list.ts';
import { duration, port, size } from './number-kinds.ts';
import { onOff } from './on-off.ts';
import { refusalText, type SettingKind } from './setting-kind.ts';
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
