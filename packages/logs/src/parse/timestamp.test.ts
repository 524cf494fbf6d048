import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTimestamp } from './timestamp.ts';

function parse(text: string) {
  return parseTimestamp(Buffer.from(text), 0, Buffer.byteLength(text));
}

describe('a timestamp', () => {
  const good: [string, string, number][] = [
    ['2024-08-16 09:48:23.118', '2024-08-16T09:48:23.118Z', 23],
    ['2024-08-16 09:48:23', '2024-08-16T09:48:23.000Z', 19],
    ['2024-08-16 09:48:23,118', '2024-08-16T09:48:23.118Z', 23],
    ['2024-08-16 09:48:23.1', '2024-08-16T09:48:23.100Z', 21],
    ['2024-08-16 09:48:23.12', '2024-08-16T09:48:23.120Z', 22],
    ['2024-08-16 09:48:23.1239', '2024-08-16T09:48:23.123Z', 24],
    ['2024-08-16 09:48:23.123999', '2024-08-16T09:48:23.123Z', 26],
    ['2024-08-16 09:48:23.123456789', '2024-08-16T09:48:23.123Z', 29],
    ['2024-08-16 09:48:23.', '2024-08-16T09:48:23.000Z', 19],
    ['2024-08-16 09:48:23.x', '2024-08-16T09:48:23.000Z', 19],
    ['2024-02-29 00:00:00', '2024-02-29T00:00:00.000Z', 19],
    ['2000-02-29 00:00:00', '2000-02-29T00:00:00.000Z', 19],
    ['2024-12-31 23:59:60', '2025-01-01T00:00:00.000Z', 19],
    ['1970-01-01 00:00:00', '1970-01-01T00:00:00.000Z', 19],
    ['1969-12-31 23:59:59.999', '1969-12-31T23:59:59.999Z', 23],
    ['0000-01-01 00:00:00', '0000-01-01T00:00:00.000Z', 19],
    ['9999-12-31 23:59:59.999', '9999-12-31T23:59:59.999Z', 23],
  ];
  test.each(good)('%j is read', (text, iso, end) => {
    expect(parse(text)).toEqual({ localMs: Date.parse(iso), end });
    expect(parse(`${text}\tINFO`)).toEqual({ localMs: Date.parse(iso), end });
  });

  const bad = [
    '',
    '2024',
    '2024-08-16',
    '2024-08-16 09:48:2',
    '2024-08-16T09:48:23',
    '2024/08/16 09:48:23',
    ' 2024-08-16 09:48:23',
  ]
    .concat(['2024-02-30 00:00:00', '2023-02-29 00:00:00', '1900-02-29 00:00:00', '2024-04-31 00:00:00'])
    .concat(['2024-00-10 00:00:00', '2024-13-10 00:00:00', '2024-10-00 00:00:00', '2024-10-32 00:00:00'])
    .concat(['2024-08-16 24:00:00', '2024-08-16 00:60:00', '2024-08-16 00:00:61', '2024-08-16 0a:00:00'])
    .concat([
      '-024-08-16 09:48:23',
      '20x4-08-16 09:48:23',
      '2024-08-16 09:4::23',
      '२०२४-08-16 09:48:23',
      '2024-08-16 09:48:/3',
    ]);
  test.each(bad)('%j is invalid', (text) => {
    expect(parse(text)).toBeUndefined();
  });

  test('is read from the middle of a buffer, ignoring bytes beyond the end', () => {
    const bytes = Buffer.from('xx2024-08-16 09:48:23.118yy');
    expect(parseTimestamp(bytes, 2, 25)).toEqual({ localMs: Date.parse('2024-08-16T09:48:23.118Z'), end: 25 });
    expect(parseTimestamp(bytes, 2, 23)).toEqual({ localMs: Date.parse('2024-08-16T09:48:23.100Z'), end: 23 });
    expect(parseTimestamp(bytes, 2, 22)?.end).toBe(21);
    expect(parseTimestamp(bytes, 2, 20)).toBeUndefined();
  });

  test('round-trips for every instant', () => {
    const instant = fc.integer({
      min: Date.parse('0000-01-01T00:00:00Z'),
      max: Date.parse('9999-12-31T23:59:59.999Z'),
    });
    fc.assert(
      fc.property(instant, (ms) => {
        const text = new Date(ms).toISOString().replace('T', ' ').replace('Z', '');
        expect(parse(text)).toEqual({ localMs: ms, end: 23 });
      }),
      { numRuns: runs(1000) },
    );
  });

  test('is never found for a day that does not exist', () => {
    const two = fc.integer({ min: 0, max: 99 }).map((value) => String(value).padStart(2, '0'));
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9999 }),
        fc.tuple(two, two, two, two),
        (year, [month, day, hour, minute]) => {
          const date = `${String(year).padStart(4, '0')}-${month}-${day}`;
          const ms = Date.parse(`${date}T${hour}:${minute}:00Z`);
          const exists = !Number.isNaN(ms) && hour !== '24' && new Date(ms).toISOString().startsWith(date);
          expect(parse(`${date} ${hour}:${minute}:00`)?.localMs).toBe(exists ? ms : undefined);
        },
      ),
      { numRuns: runs(1500) },
    );
  });
});
