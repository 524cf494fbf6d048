import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { ask } from '../testing/ask.ts';
import { openDir, tempDir } from '../testing/temp-dir.ts';

/** Longer than what names a file. */
const BANNER = 'a banner without a time\n'.repeat(60);

const lines = (day: number, count = 100) => `2026-06-0${day} 10:00:00.000\tINFO\ta.go:1\tday ${day}\n`.repeat(count);

async function daysOf(files: Record<string, string | Buffer>): Promise<Record<string, number>> {
  const dir = tempDir();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  const { records } = await ask(openDir(dir), { family: 'a.log', terms: ['day'] });
  const days: Record<string, number> = {};
  for (const { message } of records) days[message] = (days[message] ?? 0) + 1;
  return days;
}

test('files that start alike are all told, compressed or not', async () => {
  const packed = { 'a.log.1.gz': gzipSync(BANNER + lines(1)), 'a.log': BANNER + lines(2, 90) };
  expect(await daysOf(packed)).toEqual({ 'day 1': 100, 'day 2': 90 });
  const plain = { 'a.log.1': BANNER + lines(1), 'a.log': BANNER + lines(2) };
  expect(await daysOf(plain)).toEqual({ 'day 1': 100, 'day 2': 100 });
});

test('a text that is there twice is told once', async () => {
  const text = BANNER + lines(1);
  expect(await daysOf({ 'a.log.1': text, 'a.log.1.gz': gzipSync(text), 'a.log': lines(2) })).toEqual({
    'day 1': 100,
    'day 2': 100,
  });
  // Not all of it compressed yet.
  const begun = gzipSync(text).subarray(0, -6);
  expect(await daysOf({ 'a.log.1': text, 'a.log.1.gz': begun })).toEqual({ 'day 1': 100 });
  // Copied or compressed away, and not cut yet.
  expect(await daysOf({ 'a.log': text, 'a.log.1.gz': gzipSync(text) })).toEqual({ 'day 1': 100 });
  expect(await daysOf({ 'a.log': text, 'a.log.1': text })).toEqual({ 'day 1': 100 });
});
