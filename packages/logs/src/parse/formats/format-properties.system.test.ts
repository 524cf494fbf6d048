import { readdirSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { IS_LONG_RUN, runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LAYOUT_COLUMNS } from '../columns/layout-table.ts';
import { createFormat, FORMAT_NAMES } from '../detect-format.ts';
import { levelRank } from '../level.ts';
import { createZone } from '../zone.ts';
import { OWN_LAYOUTS } from './layout/own-layouts.ts';

const OPTIONS = { zone: createZone('Europe/Berlin'), writtenMs: Date.parse('2026-11-15T00:30:00Z') };
const FIXTURES = new URL('../fixtures/', import.meta.url);

const fixtureLines = readdirSync(FIXTURES)
  .filter((name) => name.endsWith('.log'))
  .flatMap((name) => readFileSync(new URL(name, FIXTURES), 'latin1').split('\n'))
  .map((line) => Buffer.from(`${line}\n`, 'latin1'));

/** A line of a real log with a piece removed or inserted somewhere. */
const damagedLine = fc
  .tuple(fc.constantFrom(...fixtureLines), fc.nat(), fc.nat(12), fc.uint8Array({ maxLength: 6 }))
  .map(([line, position, cut, added]) => {
    const at = position % (line.length + 1);
    return Buffer.concat([line.subarray(0, at), added, line.subarray(at + cut)]);
  });
const piece = fc.constantFrom(
  ...['2024-08-16 09:48:23', '2024-08-16T09:48:23.118Z', 'I1115 00:21:26.6', 'Feb 29 12:00:00', '<34>', '<165>1 '],
  ...[
    '[',
    ']',
    '{"',
    '":',
    '"',
    '\\',
    ' ',
    '\t',
    '\r',
    '\n',
    '\0',
    'INFO',
    'level',
    'ts=',
    '=',
    ':',
    '/',
    '-',
    '1723801703',
  ],
);
const anyLine = fc.oneof(
  damagedLine,
  fc.constantFrom(...fixtureLines),
  fc.array(piece, { maxLength: 12 }).map((parts) => Buffer.from(parts.join(''))),
  fc.uint8Array({ maxLength: 120 }).map((bytes) => Buffer.from(bytes)),
);

/** Up to and including the first newline: what callers pass as a line. */
function firstLine(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.indexOf(10) + 1 || bytes.length);
}

/** Formats described by layouts share their code: together they are run as often as one with code of its own. */
const LAYOUT_NAMES: ReadonlySet<string> = new Set([...LAYOUT_COLUMNS, ...OWN_LAYOUTS].map(({ name }) => name));

const made = new Map<string, Buffer>();

/** Made once for all formats, which takes as long as some of them take to read it. */
function manyOf(unit: string): Buffer {
  const bytes = made.get(unit) ?? Buffer.from(unit.repeat(250_000 / unit.length), 'latin1');
  made.set(unit, bytes);
  return bytes;
}

/** `expect` takes longer than reading a line: here it is called for what will fail only. */
function expectSame(actual: unknown, expected: unknown): void {
  if (!Object.is(actual, expected)) expect(actual).toBe(expected);
}

const WRAPPED = ['docker+json', 'docker+ansi+iso', 'cri+glog', 'compose+indented+text'] as const;

describe.each([...FORMAT_NAMES, ...WRAPPED])('%s', (name) => {
  const isLayout = LAYOUT_NAMES.has(name);
  const format = createFormat(name, OPTIONS);

  test('for any line, head and decoded record agree, and neither throws', () => {
    fc.assert(
      fc.property(anyLine, anyLine, (bytes, more) => {
        const line = firstLine(bytes);
        const head = { timeMs: -1, rank: -1 };
        const starts = format.readHead(line, 0, line.length, head);
        const record = format.decode(line, 0, line.length);
        expectSame(typeof record.message, 'string');
        const longer = format.decode(Buffer.concat([line, more]), 0, line.length + more.length);
        if (!starts) return;
        expectSame(record.timeMs ?? Number.NaN, head.timeMs);
        expectSame(levelRank(record.level), head.rank);
        if (line.at(-1) !== 10) return;
        expectSame(longer.timeMs, record.timeMs);
        expectSame(longer.level, record.level);
      }),
      { numRuns: runs(isLayout ? 4 : 30) },
    );
  });

  test('a line is parsed in the same way whatever surrounds it', () => {
    fc.assert(
      fc.property(anyLine, anyLine, anyLine, (before, bytes, after) => {
        const line = firstLine(bytes);
        const alone = { timeMs: -1, rank: -1 };
        const among = { timeMs: -1, rank: -1 };
        const all = Buffer.concat([before, line, after]);
        const starts = format.readHead(line, 0, line.length, alone);
        expectSame(format.readHead(all, before.length, before.length + line.length, among), starts);
        if (starts) expectSame(among.timeMs, alone.timeMs);
        if (starts) expectSame(among.rank, alone.rank);
        const decoded = format.decode(all, before.length, before.length + line.length);
        const expected = format.decode(line, 0, line.length);
        // `expect` takes longer than both: it is called only for what will fail.
        if (!isDeepStrictEqual(decoded, expected)) expect(decoded).toStrictEqual(expected);
      }),
      { numRuns: runs(isLayout ? 3 : 20) },
    );
  });

  test('a time is a whole number of milliseconds', () => {
    for (const line of fixtureLines) {
      const head = { timeMs: 0, rank: 0 };
      if (!format.readHead(line, 0, line.length, head) || Number.isNaN(head.timeMs)) continue;
      expectSame(Number.isSafeInteger(head.timeMs), true);
    }
  });

  const units = [
    '1',
    ' ',
    '[',
    '[ ',
    '"',
    '\\',
    ':',
    'a@',
    '} ',
    '{"a":',
    '[a] ',
    'k=v ',
    'x: ',
    '\0',
    '\xff',
    '" 20',
    ' - ',
  ];
  // If any of these were parsed in quadratic time, the test would time out. Layouts share their code, and so the units.
  const place = [...LAYOUT_NAMES].indexOf(name);
  const own = units.filter((_, index) => !isLayout || IS_LONG_RUN || (index + place) % 4 === 0);
  test.each(own)('lines of 250 kB of %j are read in time that grows with their length only', (unit) => {
    const leads = ['', '2024-08-16 09:48:23.118\t', '2024-08-16 09:48:23,118 [', '2024-08-16 09:48:23 [1] '].concat(
      ['2024-08-16 09:48:23,118 [main] INFO ', '[2024/08/16 09:48:23.118 +08:00] [INFO] [a:1] ', '{"a":"', '{"a":'],
      [
        'I1115 00:21:26.6 1 ',
        '<34>1 2024-08-16T09:48:23Z a b c d [',
        'Nov 11 11:11:11 h ',
        'ts=2024-08-16T09:48:23Z a="',
      ],
      [
        '1.1.1.1 - - [15/Nov/2026:00:21:26 +0000] "',
        '2024-08-16 09:48:23.118\t1 1 "G ',
        '[2024-08-16T09:48:23,118][INFO ][',
      ],
      ['{"log":"', '2024-08-16T09:48:23.118Z stdout F ', '\u001b['],
      ['2024-08-16 09:48:23.118  INFO 1 --- [', '2024-08-16 09:48:23,118 [myid:1] - INFO  ['],
    );
    for (const lead of isLayout ? leads.slice(0, 2) : leads) {
      const line = Buffer.concat([Buffer.from(lead, 'latin1'), manyOf(unit)]);
      format.readHead(line, 0, line.length, { timeMs: 0, rank: 0 });
      expect(format.decode(line, 0, line.length).message.length).toBeGreaterThanOrEqual(0);
    }
  });
});
