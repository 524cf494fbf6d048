import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BUILT_IN_FORMATS } from '../detect-format.ts';
import type { Format } from '../format.ts';
import { createZone } from '../zone.ts';

/*
 * Output of programs that were run, with what was logged beside it: written by a script that knows the program, not by
 * our parser. docs/formats.md says how they were made.
 */
const FIXTURES = new URL('../fixtures/real/', import.meta.url);

/** The zone the programs ran in. */
const ZONE = createZone('Asia/Shanghai');

interface Truth {
  made: string;
  /** When the file was written. */
  written: string;
  records: { lines: number; time?: string; level?: string; message?: string }[];
}

function readRecords(bytes: Buffer, format: Format, truth: Truth['records']): Truth['records'] {
  const starts: number[] = [];
  for (let start = 0; start < bytes.length; start = bytes.indexOf(10, start) + 1 || bytes.length) {
    const end = bytes.indexOf(10, start) + 1 || bytes.length;
    if (starts.length === 0 || format.readHead(bytes, start, end, { timeMs: 0, rank: 0 })) starts.push(start);
  }
  return starts.map((start, index) => {
    const end = starts[index + 1] ?? bytes.length;
    const { timeMs, level, message } = format.decode(bytes, start, end);
    const lines = bytes.subarray(start, end).filter((byte) => byte === 10).length;
    // What precedes a message in a line is a column or not: the message contains what was logged.
    const logged = truth[index]?.message;
    return {
      lines,
      ...(timeMs !== undefined && { time: new Date(timeMs).toISOString() }),
      ...(level && { level }),
      ...(logged !== undefined && { message: message.includes(logged) ? logged : message }),
    };
  });
}

const names = readdirSync(FIXTURES)
  .filter((name) => name.endsWith('.log'))
  .map((name) => name.replace('.log', ''));

test.each(names)('the records that %s wrote', (name) => {
  const bytes = readFileSync(new URL(`${name}.log`, FIXTURES));
  const { records, written } = JSON.parse(readFileSync(new URL(`${name}.json`, FIXTURES), 'utf8')) as Truth;
  const format = BUILT_IN_FORMATS.detect(bytes, { zone: ZONE, writtenMs: Date.parse(written) });
  expect(readRecords(bytes, format, records)).toEqual(records);
});
