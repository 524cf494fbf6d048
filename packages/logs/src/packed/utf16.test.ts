import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, test } from 'vitest';
import { createZone } from '../parse/zone.ts';
import { Scrubbing } from '../scrub/scrubber.ts';
import { eventually } from '../testing/eventually.ts';
import { collect, readTail } from '../testing/read-bytes.ts';
import { runSearch } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';
import type { FollowItem, FoundRecord, SearchQuery } from '../types.ts';
import { buildUtf16Map, decodeUtf16, detectUtf16, type Utf16, Utf16Decoder, Utf16Text } from './utf16.ts';

const START_MS = Date.parse('2026-06-01T10:00:00Z');

/** Lines as SQL Server writes them, with characters of one to four bytes. */
function lines(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, index) => {
    const time = new Date(START_MS + (from + index) * 1000).toISOString().replace('T', ' ').slice(0, 22);
    return `${time} spid${(from + index) % 7}s      Datenbank "Überfluß ${from + index} 数据 😀" is starting.\r\n`;
  }).join('');
}

const ENCODINGS: [string, (text: string) => Buffer][] = [
  ['low bytes first, with a mark', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
  ['high bytes first, with a mark', (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
];

/** Without what names the file. */
const comparable = (record: FoundRecord) =>
  JSON.stringify(record, (key, value) => (key === 'file' || key === 'cursor' ? undefined : value));

test('UTF-16 is read like UTF-8, also compressed', async () => {
  const dir = tempDir();
  const text = lines(0, 1000);
  for (const [index, [, encode]] of ENCODINGS.entries()) {
    writeFileSync(join(dir, `plain-${index}.log`), encode(text));
    writeFileSync(join(dir, `packed-${index}.log.1.gz`), gzipSync(encode(text)));
  }
  writeFileSync(join(dir, 'utf8.log'), text);
  const logs = openDir(dir, { zone: createZone('UTC') });
  const details = await logs.details();
  for (const { name, family, format, problem, firstTimeMs } of details) {
    expect({ format, problem, firstTimeMs }).toEqual({ format: 'sql-server', problem: null, firstTimeMs: START_MS });
    for (const query of QUERIES) {
      const found = await runSearch(logs, { ...query, src: [family] });
      const expected = await runSearch(logs, { ...query, src: ['utf8.log'] });
      expect(expected.records.length).toBeGreaterThan(4);
      expect(found.records.map(comparable)).toEqual(expected.records.map(comparable));
      expect(found.end.problems).toEqual([]);
    }
    const [counted, expected] = [family, 'utf8.log'].map((one) => logs.histogram({ src: [one], buckets: 5 }));
    expect((await counted)?.buckets).toEqual((await expected)?.buckets);
    const log = await logs.open(name, { text: true });
    expect((await collect(log.read(0, log.sizeBytes))).toString()).toBe(text);
    await log.close();
  }
  expect(details).toHaveLength(5);
});

const QUERIES: Partial<SearchQuery>[] = [
  { terms: ['Überfluß 17'], before: 1 },
  { order: 'newest', limit: 20, fromMs: START_MS + 500_000 },
  { regex: '数据 😀.*starting', limit: 5 },
];

describe.each(ENCODINGS)('UTF-16, %s,', (_, encode) => {
  test('is followed as it grows and through rotation; cursors stay valid', async () => {
    const dir = tempDir();
    const path = join(dir, 'ERRORLOG');
    writeFileSync(path, encode(lines(0, 10)));
    const leaving = new AbortController();
    const messages: string[] = [];
    const cursors: string[] = [];
    const logs = openDir(dir, { pollMs: 20 });
    const query = { src: ['ERRORLOG'], start: { back: 2 } } as const;
    const note = (item: FollowItem) => {
      if (item.type !== 'record') return;
      messages.push(item.message);
      cursors.push(item.cursor);
    };
    const following = (async () => {
      for await (const batch of logs.follow(query, { signal: leaving.signal })) batch.forEach(note);
    })();
    const isAt = (count: number) => eventually(() => expect(messages.length).toBeGreaterThanOrEqual(count));
    await isAt(2);
    const more = encode(lines(10, 12)).subarray(2);
    // In the middle of a character.
    appendFileSync(path, more.subarray(0, 101));
    appendFileSync(path, more.subarray(101));
    await isAt(4);
    renameSync(path, `${path}.1`);
    writeFileSync(path, encode(lines(12, 14)));
    await isAt(6);
    leaving.abort();
    await following;
    const { records } = await runSearch(logs, { src: ['ERRORLOG'] });
    expect(messages).toEqual(records.slice(8).map(({ message }) => message));
    // A cursor also has the name and the length the file had: offset and checksum follow.
    const place = (cursor: string) => cursor.split('.').slice(2, 4);
    expect(cursors.map(place)).toEqual(records.slice(8).map(({ cursor }) => place(cursor)));
    const resumed = await runSearch(logs, { src: ['ERRORLOG'], start: { cursor: cursors[1] ?? '' } });
    expect(resumed.records.map(({ message }) => message)).toEqual(messages.slice(2));
  });
});

test('is recognised without a mark if it is ASCII; other NULs are not UTF-16', () => {
  const text = '2026-06-01 10:00:00.00 Server started\r\n';
  expect(detectUtf16(Buffer.from(text, 'utf16le'))).toBe('utf-16le');
  expect(detectUtf16(Buffer.from(text.slice(0, 10), 'utf16le'))).toBeUndefined();
  expect(detectUtf16(Buffer.from(text))).toBeUndefined();
  expect(detectUtf16(Buffer.alloc(1000))).toBeUndefined();
  expect(detectUtf16(Buffer.concat([Buffer.from(text.slice(0, 20), 'utf16le'), Buffer.alloc(100)]))).toBeUndefined();
  expect(detectUtf16(Buffer.alloc(0))).toBeUndefined();
});

test('any part of the text is the same as in the whole, also between surrogates', async () => {
  const { openSync, closeSync } = await import('node:fs');
  const path = join(tempDir(), 'a.log');
  // Pairs that lie across the borders of segments, unpaired ones, marks in the middle, and half a character at the end.
  const units = Array.from({ length: 100_000 }, (_, index) =>
    index % 3 === 0 ? '😀' : index % 1001 === 0 ? '\ud800' : index % 997 === 0 ? '\ufeff' : 'x',
  );
  for (const encoding of ['utf-16le', 'utf-16be'] as Utf16[]) {
    const little = Buffer.from(`\ufeff${units.join('')}`, 'utf16le');
    const bytes = Buffer.concat([encoding === 'utf-16le' ? little : little.swap16(), Buffer.from([1])]);
    writeFileSync(path, bytes);
    const fd = openSync(path, 'r');
    const map = buildUtf16Map({ fd, sizeBytes: bytes.length, encoding });
    const text = new Utf16Text(fd, map, { name: 'a.log' });
    const whole = decodeUtf16(bytes, encoding);
    expect(map.textBytes).toBe(whole.length);
    for (const [from, length] of [
      [0, whole.length],
      [65_530, 20],
      [131_000, 70_000],
      [whole.length - 5, 100],
    ] as const) {
      const part = Buffer.alloc(length);
      const got = text.read(part, 0, from, length);
      expect(part.subarray(0, got).equals(whole.subarray(from, from + length))).toBe(true);
    }
    const decoder = new Utf16Decoder(encoding);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 777) }, (_, index) =>
      decoder.write(bytes.subarray(index * 777, (index + 1) * 777)),
    );
    expect(Buffer.concat(pieces).equals(whole)).toBe(true);
    closeSync(fd);
  }
});

test('its bytes are returned as they are, unless it has secrets, which are masked in its text', async () => {
  const dir = tempDir();
  const bytes = Buffer.from(`\ufeff${lines(0, 3)}password hunter2-hunter2\r\n`, 'utf16le');
  writeFileSync(join(dir, 'ERRORLOG'), bytes);
  expect(await readTail(openDir(dir), 'ERRORLOG', 10_000)).toEqual(bytes);
  const scrubbing = new Scrubbing();
  scrubbing.add(['hunter2-hunter2']);
  const logs = openDir(dir, { scrubbing });
  expect((await readTail(logs, 'ERRORLOG', 10_000)).toString()).toMatch(/password \*{15}\r\n$/);
  await expect(logs.open('ERRORLOG')).rejects.toMatchObject({ code: 'RAW_HAS_SECRETS' });
  const { records } = await runSearch(logs, { terms: ['password'] });
  expect(records.map(({ message }) => message.includes('hunter2'))).toEqual([false]);
});
