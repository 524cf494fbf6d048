import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { expect, test } from 'vitest';
import { Scrubbing } from '../scrub/scrubber.ts';
import { collect } from '../testing/read-bytes.ts';
import { runSearch } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';

const HEAD = '2026-06-01 10:00:00.000\tINFO\ta.go:1\t';
const LONG = `${HEAD}${Array.from({ length: 20_000 }, (_, index) => `word-${index}`).join(' ')}\n`;
const TEXT = [`${HEAD}first\n`.repeat(9000), LONG, `${HEAD}last\n`].join('');

test('the rest of a long record in an archive is read by its offset', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'a.log.1.gz'), gzipSync(TEXT));
  writeFileSync(join(dir, 'a.log'), LONG);
  const logs = openDir(dir);
  for (const name of ['a.log.1.gz', 'a.log']) {
    const { records } = await runSearch(logs, { src: [`=${name}`], terms: ['word-1 '] });
    expect(records).toMatchObject([{ cut: true, bytes: LONG.length }]);
    const { offset = 0, bytes = 0 } = records[0] ?? {};
    const log = await logs.open(name, { text: true });
    expect((await collect(log.read(offset, offset + bytes))).toString()).toBe(LONG);
    expect(log.sizeBytes).toBe(name === 'a.log' ? LONG.length : TEXT.length);
    await log.close();
  }
  expect(logs.usage.lentBuffers).toBe(0);
});

test('the text has its own tag, ranges refer to it, and ranges outside of it are empty', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'a.log.gz'), gzipSync(TEXT));
  const logs = openDir(dir);
  const [text, packed] = [await logs.open('a.log.gz', { text: true }), await logs.open('a.log.gz')];
  expect(text.etag).not.toBe(packed.etag);
  expect(packed.sizeBytes).toBeLessThan(text.sizeBytes);
  expect((await collect(text.read(-5, 10))).toString()).toBe(TEXT.slice(0, 10));
  expect((await collect(text.read(TEXT.length - 3, Number.MAX_SAFE_INTEGER))).toString()).toBe(TEXT.slice(-3));
  expect((await collect(text.read(0, text.sizeBytes))).toString()).toBe(TEXT);
  await Promise.all([text.close(), packed.close()]);
});

test('secrets are masked in the text of an archive, and a damaged one is rejected', async () => {
  const dir = tempDir();
  const scrubbing = new Scrubbing();
  scrubbing.add(['hunter2-hunter2']);
  writeFileSync(join(dir, 'a.log.gz'), gzipSync(`${HEAD}password hunter2-hunter2\n`));
  writeFileSync(join(dir, 'b.log.gz'), gzipSync(TEXT).subarray(0, -20));
  const logs = openDir(dir, { scrubbing });
  const log = await logs.open('a.log.gz', { text: true });
  expect((await collect(log.read(0, log.sizeBytes))).toString()).not.toContain('hunter2');
  await log.close();
  await expect(logs.open('b.log.gz', { text: true })).rejects.toMatchObject({ code: 'LOG_FILE_CORRUPT' });
  await expect(logs.open('c.log.gz', { text: true })).rejects.toMatchObject({ code: 'LOG_FILE_NOT_FOUND' });
});
