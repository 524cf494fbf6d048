import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, test } from 'vitest';
import { runSearch } from '../../testing/run-search.ts';
import { openDir } from '../../testing/temp-dir.ts';

/** Longer than the head that identifies a file. */
const BANNER = 'a banner without a time\n'.repeat(60);

const lines = (day: number, count = 100) => `2026-06-0${day} 10:00:00.000\tINFO\ta.go:1\tday ${day}\n`.repeat(count);

async function fileDays(files: Record<string, string | Buffer>): Promise<Record<string, number>> {
  return (await searchFiles(files)).days;
}

async function searchFiles(files: Record<string, string | Buffer>) {
  const dir = tempDir();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  const { records, end } = await runSearch(openDir(dir), { src: ['a.log'], terms: ['day'] });
  const days: Record<string, number> = {};
  for (const { message } of records) days[message] = (days[message] ?? 0) + 1;
  return { days, duplicates: end.duplicates, problems: end.problems };
}

test('files that start alike are all returned, compressed or not', async () => {
  const packed = { 'a.log.1.gz': gzipSync(BANNER + lines(1)), 'a.log': BANNER + lines(2, 90) };
  expect(await fileDays(packed)).toEqual({ 'day 1': 100, 'day 2': 90 });
  const plain = { 'a.log.1': BANNER + lines(1), 'a.log': BANNER + lines(2) };
  expect(await fileDays(plain)).toEqual({ 'day 1': 100, 'day 2': 100 });
});

test('a text that exists twice is returned once', async () => {
  const text = BANNER + lines(1);
  expect(await fileDays({ 'a.log.1': text, 'a.log.1.gz': gzipSync(text), 'a.log': lines(2) })).toEqual({
    'day 1': 100,
    'day 2': 100,
  });
  // Not completely compressed yet.
  const begun = gzipSync(text).subarray(0, -6);
  expect(await fileDays({ 'a.log.1': text, 'a.log.1.gz': begun })).toEqual({ 'day 1': 100 });
  // Copied or compressed, and not truncated yet.
  expect(await fileDays({ 'a.log': text, 'a.log.1.gz': gzipSync(text) })).toEqual({ 'day 1': 100 });
  expect(await fileDays({ 'a.log': text, 'a.log.1': text })).toEqual({ 'day 1': 100 });
});

describe('files that begin and end alike', () => {
  const begin = lines(1, 50);
  const end = lines(3, 50);
  const texts = [begin + lines(2, 40) + end, begin + lines(4, 40) + end] as const;
  const both = { 'day 1': 100, 'day 2': 40, 'day 3': 100, 'day 4': 40 };

  test.each([
    { name: 'plain', files: { 'a.log.1': texts[0], 'a.log': texts[1] } },
    { name: 'one compressed', files: { 'a.log.1.gz': gzipSync(texts[0]), 'a.log': texts[1] } },
    { name: 'one compressed, named alike', files: { 'a.log.1.gz': gzipSync(texts[0]), 'a.log.1': texts[1] } },
    { name: 'both compressed', files: { 'a.log.2.gz': gzipSync(texts[0]), 'a.log.1.gz': gzipSync(texts[1]) } },
    {
      name: 'one still being compressed',
      files: { 'a.log.1.gz': gzipSync(texts[0]).subarray(0, -8), 'a.log': texts[1] },
    },
  ])('but differ in between are all read ($name)', async ({ files }) => {
    const { days, duplicates } = await searchFiles(files);
    expect(days).toEqual(both);
    expect(duplicates).toBeUndefined();
  });

  test('are distinguished by a single byte', async () => {
    const text = lines(1, 6000);
    const at = 3000 * 45 + 7;
    const other = Buffer.from(text);
    other.write('x', text.indexOf('day', at));
    const { days } = await searchFiles({ 'a.log.1': text, 'a.log': other });
    expect(days['day 1']).toBe(11_999);
  });
});

test('runs of a program with the same output without times are not copies of each other', async () => {
  const start = 'day by day\n';
  const files = { 'a.log.2': start, 'a.log.1': start, 'a.log': `${start}ready\n` };
  expect(await fileDays(files)).toEqual({ 'day by day': 3 });
});

describe('during a rotation every line is returned once and the copy is reported', () => {
  const text = lines(1, 3000);
  const short = lines(1, 5);

  test.each([
    { name: 'copied, and grown since', files: { 'a.log': text + lines(2, 3), 'a.log.1': text }, copy: 'a.log.1' },
    { name: 'being copied', files: { 'a.log': text, 'a.log.1': text.slice(0, 70_001) }, copy: 'a.log.1' },
    {
      name: 'a short one copied',
      files: { 'a.log': short + lines(2, 1), 'a.log.1': short },
      copy: 'a.log.1',
      count: 5,
    },
    { name: 'compressed', files: { 'a.log.1': text, 'a.log.1.gz': gzipSync(text) }, copy: 'a.log.1.gz' },
    {
      name: 'being compressed',
      files: { 'a.log.1': text, 'a.log.1.gz': gzipSync(text).subarray(0, 200) },
      copy: 'a.log.1.gz',
    },
    {
      name: 'compression begun',
      files: { 'a.log.1': text, 'a.log.1.gz': gzipSync(text).subarray(0, 10) },
      copy: 'a.log.1.gz',
    },
    {
      name: 'compressed, and grown since',
      files: { 'a.log': text + lines(2, 3), 'a.log.1.gz': gzipSync(text) },
      copy: 'a.log.1.gz',
    },
    {
      name: 'being unpacked',
      files: { 'a.log.1': text.slice(0, 5001), 'a.log.1.gz': gzipSync(text) },
      copy: 'a.log.1',
    },
  ])(
    '$name',
    async ({ files, copy, count = 3000 }: { files: Record<string, string | Buffer>; copy: string; count?: number }) => {
      const { days, duplicates, problems } = await searchFiles(files);
      expect(days['day 1']).toBe(count);
      expect(duplicates).toMatchObject([{ file: copy }]);
      expect(problems).toEqual([]);
    },
  );
});

test('a copy is distinguished from an earlier file with the same start', async () => {
  const files = {
    'a.log.2': BANNER + lines(1),
    'a.log.1': BANNER + lines(2),
    'a.log.1.gz': gzipSync(BANNER + lines(2)),
  };
  const { days, duplicates } = await searchFiles(files);
  expect(days).toEqual({ 'day 1': 100, 'day 2': 100 });
  expect(duplicates).toEqual([{ file: 'a.log.1.gz', sameAs: 'a.log.1' }]);
});
