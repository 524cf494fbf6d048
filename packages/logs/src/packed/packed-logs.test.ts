import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { expect, onTestFinished, test } from 'vitest';
import type { LogDir } from '../log-dir.ts';
import { Scrubbing } from '../scrub/scrubber.ts';
import { collect, readTail } from '../testing/read-bytes.ts';
import { runSearch } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';
import type { FollowItem, FoundRecord, SearchQuery } from '../types.ts';
import { buildChunkMap, ChunkText } from './chunk-map.ts';
import { type FixtureName, fixture, fixtureText } from './testing/fixture-text.ts';

const TEXT = fixtureText();
const LIVE = '2026-06-02 10:00:00.000\tINFO\ta.go:1\tlive\n';
const SUFFIXES = ['.zst', '.xz', '.bz2'] as const;
const START_MS = Date.parse('2026-06-01T10:00:00Z');

/** A log with the text as a rotated file of that kind. */
function logWith(suffix: string, bytes: Buffer): { logs: LogDir; name: string } {
  const dir = tempDir();
  const name = `a.log.1${suffix}`;
  writeFileSync(join(dir, name), bytes);
  writeFileSync(join(dir, 'a.log'), LIVE);
  return { logs: openDir(dir), name };
}

const packedLog = (suffix: (typeof SUFFIXES)[number]) => logWith(suffix, fixture(`default${suffix}` as FixtureName));

/** Without what names the file, also in the records around it. */
function comparable(record: FoundRecord): unknown {
  return JSON.parse(JSON.stringify(record, (key, value) => (key === 'file' || key === 'cursor' ? undefined : value)));
}

const QUERIES: Partial<SearchQuery>[] = [
  { order: 'newest', limit: 30 },
  { terms: ['merged segment 4'], order: 'oldest', before: 1, after: 1 },
  { minLevel: 'ERROR', fromMs: START_MS + 100_000, toMs: START_MS + 200_000 },
  { regex: 'closed segment \\d{4} ' },
];

test('rotated files are read like plain ones', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'plain.log.1'), TEXT);
  for (const suffix of SUFFIXES) {
    writeFileSync(join(dir, `packed${suffix}.log.1${suffix}`), fixture(`default${suffix}` as FixtureName));
  }
  const logs = openDir(dir);
  const plain = 'plain.log';
  for (const suffix of SUFFIXES) {
    const family = `packed${suffix}.log`;
    for (const query of QUERIES) {
      const found = await runSearch(logs, { ...query, src: [family] });
      const expected = await runSearch(logs, { ...query, src: [plain] });
      expect(expected.records.length).toBeGreaterThan(5);
      expect(found.records.map(comparable)).toEqual(expected.records.map(comparable));
      expect(found.end.problems).toEqual([]);
    }
    const histograms = [family, plain].map((one) => logs.histogram({ src: [one], buckets: 10 }));
    const [counted, expectedCounts] = (await Promise.all(histograms)).map(({ buckets }) => buckets);
    expect(counted).toEqual(expectedCounts);
    const digests = [family, plain].map((one) => logs.digest({ src: [one], limit: 5 }));
    const [groups, expectedGroups] = (await Promise.all(digests)).map((digest) =>
      digest.groups.map(({ count }) => count),
    );
    expect(groups).toEqual(expectedGroups);
    for (const size of [1, 1000, TEXT.length, 10 * TEXT.length]) {
      const [ending, expected] = [`${family}.1${suffix}`, `${plain}.1`].map((name) => readTail(logs, name, size));
      expect((await ending)?.toString()).toBe((await expected)?.toString());
    }
  }
  for (const { format, firstTimeMs, problem } of await logs.details()) {
    expect({ format, firstTimeMs, problem }).toEqual({ format: 'contract', firstTimeMs: START_MS, problem: null });
  }
});

test.each(SUFFIXES)('a cursor of the plain file finds the record in its %s file', async (suffix) => {
  const [packed, plain] = [packedLog(suffix), logWith('', TEXT)];
  const { records } = await runSearch(plain.logs, { terms: ['segment 777'] });
  const [record] = records;
  const start = { record: record?.cursor ?? '' };
  const found = await runSearch(packed.logs, { src: ['a.log'], start, limit: 1 });
  expect(found.records.map(({ file, message }) => [file, message])).toEqual([[packed.name, record?.message]]);
});

test.each(SUFFIXES)('a follow from the past begins in the %s file', async (suffix) => {
  const { logs } = packedLog(suffix);
  const leaving = new AbortController();
  const items: FollowItem[] = [];
  const start = { timeMs: START_MS };
  for await (const batch of logs.follow({ src: ['a.log'], start }, { signal: leaving.signal })) {
    items.push(...batch);
    if (items.some((item) => item.type === 'record' && item.message === 'live')) leaving.abort();
  }
  const { records } = await runSearch(logs, { src: ['a.log'] });
  const followed = items.flatMap((item) => (item.type === 'record' ? [item.message] : []));
  expect(followed).toEqual(records.map(({ message }) => message));
});

test.each(SUFFIXES)('a %s file with secrets is not served raw, and they are masked in its text', async (suffix) => {
  const scrubbing = new Scrubbing();
  scrubbing.add(['flushed segment ']);
  const dir = tempDir();
  const name = `a.log.1${suffix}`;
  writeFileSync(join(dir, name), fixture(`default${suffix}` as FixtureName));
  const logs = openDir(dir, { scrubbing });
  await expect(logs.open(name)).rejects.toMatchObject({ code: 'RAW_HAS_SECRETS' });
  const log = await logs.open(name, { text: true });
  const text = (await collect(log.read(0, log.sizeBytes))).toString();
  await log.close();
  expect([text.includes('flushed segment'), text.includes('opened segment')]).toEqual([false, true]);
});

test('a damaged file is read up to the damage, which is a problem; a view of it is refused', async () => {
  const packed = fixture('streams.bz2');
  const { logs, name } = logWith('.bz2', packed.subarray(0, -30));
  const { records, end } = await runSearch(logs, { src: [`=${name}`] });
  expect(records.length).toBeGreaterThan(1000);
  const detail = `unexpected end of file at byte ${packed.length - 30}`;
  expect(end.problems).toEqual([{ file: name, code: 'LOG_FILE_CORRUPT', detail }]);
  await expect(logs.tail(name, 100)).rejects.toMatchObject({ code: 'LOG_FILE_CORRUPT' });
  const raw = await logs.open(name);
  expect(raw.sizeBytes).toBe(packed.length - 30);
  await raw.close();
});

test('while a file is being compressed it is read once, from the plain file', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'a.log.1'), TEXT);
  writeFileSync(join(dir, 'a.log.1.zst'), fixture('default.zst').subarray(0, 20_000));
  const { records, end } = await runSearch(openDir(dir), {});
  expect(end.duplicates).toEqual([{ file: 'a.log.1.zst', sameAs: 'a.log.1' }]);
  expect(records).toHaveLength(2000);
});

test.each([
  { bz2: fixture('streams.bz2'), what: 'from one of two that are equal' },
  { bz2: fixture('streams.bz2').subarray(0, -30), what: 'from the complete one' },
])('while a file is compressed anew it is read once, $what', async ({ bz2 }) => {
  const dir = tempDir();
  writeFileSync(join(dir, 'a.log.1.bz2'), bz2);
  writeFileSync(join(dir, 'a.log.1.zst'), fixture('default.zst'));
  const { records, end } = await runSearch(openDir(dir), {});
  expect(end.duplicates).toHaveLength(1);
  expect([records.length, end.problems]).toEqual([2000, []]);
});

test('archives of different texts are both read, and so are those of other files', async () => {
  const dir = tempDir();
  writeFileSync(
    join(dir, 'a.log.1.gz'),
    gzipSync(Buffer.concat([TEXT.subarray(0, -30), Buffer.from('another end\n')])),
  );
  writeFileSync(join(dir, 'a.log.1.zst'), fixture('default.zst'));
  writeFileSync(join(dir, 'a.log.2.xz'), fixture('default.xz'));
  const { records, end } = await runSearch(openDir(dir), {});
  expect(end.duplicates).toBeUndefined();
  expect(records.length).toBeGreaterThan(5990);
});

/** A gigabyte of zeros in 32 KiB: blocks that repeat one byte. */
function bomb(): Buffer {
  const block = Buffer.from([0x02, 0x00, 0x10, 0x00]);
  return Buffer.concat([
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]),
    ...Array.from({ length: 8192 }, () => block),
  ]);
}

test('the memory for the text of a file is limited, and what exceeds it is reported', () => {
  const path = join(tempDir(), 'a.zst');
  const packed = bomb();
  writeFileSync(path, packed);
  const fd = openSync(path, 'r');
  onTestFinished(() => closeSync(fd));
  const file = { fd, sizeBytes: packed.length, decoder: 'zstd' } as const;
  const map = buildChunkMap(file, { maxPackedBytes: 50_000 });
  expect(map.problem).toMatchObject({
    code: 'LOG_FILE_UNSUPPORTED',
    detail: expect.stringMatching(/^only the first \d+ MiB/),
  });
  expect(map.shared.byteLength).toBeLessThan(60_000);
  const text = new ChunkText(map);
  const part = Buffer.alloc(1000, 1);
  expect([text.read(part, 0, map.textBytes - 600, 1000), part.indexOf(1)]).toEqual([600, 600]);
  expect(() => buildChunkMap(file, { isCancelled: () => true })).toThrow('unpacking was cancelled');
});
