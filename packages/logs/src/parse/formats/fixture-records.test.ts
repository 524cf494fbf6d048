import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BUILT_IN_FORMATS, createFormat } from '../detect-format.ts';
import type { Format, FormatName } from '../format.ts';
import { createZone } from '../zone.ts';

const FIXTURES = new URL('../fixtures/', import.meta.url);

/** A zone that is neither UTC nor, most likely, the local zone. */
const OPTIONS = { zone: createZone('Asia/Shanghai'), writtenMs: Date.parse('2026-11-15T00:30:00Z') };

interface Expected {
  format: FormatName;
  records: unknown[];
}

/** The records of a file, in the form of the expectations: the time in UTC, and the number of lines of each record. */
function parseRecords(bytes: Buffer, format: Format): unknown[] {
  const starts: number[] = [];
  for (let start = 0; start < bytes.length; start = bytes.indexOf(10, start) + 1 || bytes.length) {
    const end = bytes.indexOf(10, start) + 1 || bytes.length;
    if (starts.length === 0 || format.readHead(bytes, start, end, { timeMs: 0, rank: 0 })) starts.push(start);
  }
  return starts.map((start, index) => {
    const end = starts[index + 1] ?? bytes.length;
    const { timeMs, ...columns } = format.decode(bytes, start, end);
    const lines = bytes.subarray(start, end).filter((byte) => byte === 10).length;
    return { lines, ...(timeMs !== undefined && { time: new Date(timeMs).toISOString() }), ...columns };
  });
}

const names = readdirSync(FIXTURES)
  .filter((name) => name.endsWith('.log'))
  .map((name) => name.replace('.log', ''));

test.each(names)('the records of %s', (name) => {
  const bytes = readFileSync(new URL(`${name}.log`, FIXTURES));
  const expected = JSON.parse(readFileSync(new URL(`${name}.json`, FIXTURES), 'utf8')) as Expected;
  const format = BUILT_IN_FORMATS.detect(bytes, OPTIONS);
  expect(format.name).toBe(expected.format);
  // Through JSON, so that a key `__proto__` is compared like any other.
  expect(JSON.parse(JSON.stringify(parseRecords(bytes, format)))).toEqual(expected.records);
  expect(parseRecords(bytes, createFormat(format.spec, OPTIONS))).toEqual(parseRecords(bytes, format));
});
