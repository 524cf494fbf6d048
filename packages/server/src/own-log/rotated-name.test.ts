import { expect, test } from 'vitest';
import { RotatedNames, temporaryName } from './rotated-files.ts';

const names = new RotatedNames('porthole.log');
const ROTATED_AT_MS = Date.parse('2026-11-15T00:21:26.600Z');

test('a rotated file carries the UTC time of its rotation', () => {
  expect(names.at(ROTATED_AT_MS)).toBe('porthole-2026-11-15T00-21-26.600.log');
});

test.each([
  ['porthole-2026-11-15T00-21-26.600.log', false],
  ['porthole-2026-11-15T00-21-26.600.log.gz', true],
])('%s is ours', (name, isCompressed) => {
  const plainName = 'porthole-2026-11-15T00-21-26.600.log';
  expect(names.parse(name)).toEqual({ name, plainName, rotatedAtMs: ROTATED_AT_MS, isCompressed });
});

const FOREIGN_NAMES = [
  'porthole.log',
  'porthole.log.1',
  'porthole-2026-11-15T00-21-26.600.log.bak',
  'porthole-2026-11-15T00-21-26.600.log.gz.gz',
  'porthole-2026-11-15T00-21-26.log',
  'porthole-2026-02-30T00-21-26.600.log',
  'porthole-2026-11-15T24-21-26.600.log',
  'porthole-audit-2026-11-15T00-21-26.600.log',
  'my-porthole-2026-11-15T00-21-26.600.log',
  'Porthole-2026-11-15T00-21-26.600.log',
  'porthole-2026-11-15T00-21-26.600xlog',
  'lind-broker-2026-11-15T00-21-26.600.log',
];

test.each(FOREIGN_NAMES)('%s is not ours', (name) => {
  expect(names.parse(name)).toBeUndefined();
});

test('a temporary names its process and nothing else passes for one', () => {
  const temporary = temporaryName('porthole-2026-11-15T00-21-26.600.log.gz');
  expect(names.parseTemporary(temporary)).toBe(process.pid);
  expect(names.parse(temporary)).toBeUndefined();
  for (const name of [
    temporary.slice(1),
    `${temporary}x`,
    temporary.replace('.gz', ''),
    '.porthole.tmp',
    ...FOREIGN_NAMES,
  ]) {
    expect(names.parseTemporary(name)).toBeUndefined();
  }
});

test.each(['node', 'a.b.log', '.hidden'])('names made after "%s" read back', (fileName) => {
  const own = new RotatedNames(fileName);
  expect(own.parse(own.at(ROTATED_AT_MS))?.rotatedAtMs).toBe(ROTATED_AT_MS);
});
