import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { runs, tempDir } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LogDir } from '../log-dir.ts';
import { BLOCK_BYTES } from '../scan/block/blocks.ts';
import { eventually } from '../testing/eventually.ts';
import { searchItems } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';
import type { FollowItem, RecordFilter, SearchItem, SearchQuery } from '../types.ts';
import { needleForms } from './needle-table.ts';
import { Scrubbing } from './scrubber.ts';
import { ENCODERS } from './testing/encoders.ts';
import { slowScrub } from './testing/slow-scrub.ts';

const SECRET = 'hunter2/ä&"x y';
const NEEDLES = needleForms(SECRET);
const FORMS = [...new Set([...ENCODERS.map(({ encode }) => encode(SECRET)), ...NEEDLES.map(String)])];

function scrubbedDir(values: readonly string[] = [SECRET]): { dir: string; logs: LogDir; scrubbing: Scrubbing } {
  const dir = tempDir();
  const scrubbing = new Scrubbing();
  scrubbing.add(values);
  return { dir, scrubbing, logs: openDir(dir, { scrubbing, pollMs: 20 }) };
}

function line(index: number, text: string): string {
  const second = String(index % 60).padStart(2, '0');
  const minute = String(Math.floor(index / 60) % 60).padStart(2, '0');
  return `2026-11-15 10:${minute}:${second}.000\tINFO\tmain.go:${index % 7}\t${text}\n`;
}

/** Lines that contain every form of the secret. */
function plantedText(): string {
  return FORMS.map((form, index) => line(index, `login with ${form} done`)).join('');
}

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts);
}

async function view(logs: LogDir, name: string, size: number): Promise<Buffer> {
  const stream = await logs.tail(name, size);
  try {
    return await readAll(stream.chunks);
  } finally {
    await stream.close();
  }
}

async function raw(logs: LogDir, name: string, start: number, end: number): Promise<Buffer> {
  const log = await logs.open(name);
  try {
    return await readAll(log.read(start, end));
  } finally {
    await log.close();
  }
}

async function search(logs: LogDir, query: Partial<SearchQuery>): Promise<SearchItem[]> {
  const items: SearchItem[] = [];
  const whole = { order: 'oldest', limit: 10_000, before: 0, after: 0, raw: true, ...query } as const;
  for await (const batch of searchItems(logs, whole)) items.push(...batch);
  return items;
}

function onlyRecords(items: readonly (SearchItem | FollowItem)[]) {
  return items.filter((item) => item.type === 'record');
}

function expectNoSecret(response: unknown): void {
  const text = Buffer.isBuffer(response) ? response.toString() : JSON.stringify(response);
  for (const form of FORMS) {
    expect(text).not.toContain(form);
    expect(text).not.toContain(JSON.stringify(form).slice(1, -1));
  }
}

test('every form of a secret is masked by the same number of bytes, in plain and compressed files', async () => {
  const { dir, logs } = scrubbedDir();
  const text = plantedText();
  writeFileSync(join(dir, 'a.log'), text);
  writeFileSync(join(dir, 'a.log.1.gz'), gzipSync(text));
  const expected = slowScrub(Buffer.from(text), NEEDLES).toString();
  expect(FORMS.length).toBeGreaterThan(15);
  for (const name of ['a.log', 'a.log.1.gz']) {
    expect((await view(logs, name, 10_000_000)).toString()).toBe(expected);
    const records = onlyRecords(await search(logs, { src: [`=${name}`] }));
    expect(records.map((record) => `${record.raw}\n`).join('')).toBe(expected);
    expectNoSecret(await logs.digest({ src: [`=${name}`], limit: 100 }));
    expectNoSecret(await logs.top({ src: [`=${name}`], by: 'message', limit: 100 }));
    expectNoSecret(await logs.fields({ src: [`=${name}`], limit: 100 }));
  }
  expect((await raw(logs, 'a.log', 0, text.length * 2)).toString()).toBe(expected);
  expectNoSecret(await logs.details());
});

test('no range of a file, not even a single byte, reveals more than the whole', async () => {
  const { dir, logs } = scrubbedDir();
  const text = Buffer.from(`${'x'.repeat(300)}${SECRET}${'y'.repeat(100)}\n`);
  writeFileSync(join(dir, 'a.log'), text);
  const expected = slowScrub(text, NEEDLES);
  for (let at = 280; at < 340; at++) {
    for (const length of [1, 2, 7]) {
      expect((await raw(logs, 'a.log', at, at + length)).toString('latin1')).toBe(
        expected.subarray(at, at + length).toString('latin1'),
      );
    }
    // Without a line end the window is cut anywhere.
    expect((await view(logs, 'a.log', text.length - at)).toString('latin1')).toBe(
      expected.subarray(at).toString('latin1'),
    );
  }
});

test('any size of the tail of a compressed file is a part of its scrubbed text', async () => {
  const { dir, logs } = scrubbedDir();
  const text = Buffer.from(plantedText().repeat(20));
  writeFileSync(join(dir, 'a.log.gz'), gzipSync(text));
  const expected = slowScrub(text, NEEDLES).toString('latin1');
  for (const size of [1, 5, 100, 1000, text.length - 10, text.length]) {
    expect(expected.endsWith((await view(logs, 'a.log.gz', size)).toString('latin1'))).toBe(true);
  }
});

test('a secret across the boundaries of chunks and blocks is masked', async () => {
  const { dir, logs } = scrubbedDir();
  const borders = [BLOCK_BYTES, 2 * BLOCK_BYTES, 1024 * 1024, 1024 * 1024 + 4096 - 126, 1024 * 1024 + 4096];
  const text = Buffer.from(line(1, 'z'.repeat(900)).repeat(1400));
  for (const border of borders) text.write(SECRET, border - 5);
  writeFileSync(join(dir, 'a.log'), text);
  writeFileSync(join(dir, 'b.log.gz'), gzipSync(text));
  const expected = slowScrub(text, NEEDLES);
  for (const name of ['a.log', 'b.log.gz']) {
    expect((await view(logs, name, text.length)).equals(expected)).toBe(true);
    expectNoSecret(onlyRecords(await search(logs, { src: [`=${name}`], terms: ['*****'] })));
  }
  expect((await raw(logs, 'a.log', 0, text.length)).equals(expected)).toBe(true);
});

test('searching for a secret finds nothing, searching for the mask finds it', async () => {
  const { dir, logs } = scrubbedDir(['correct-horse']);
  writeFileSync(join(dir, 'a.log'), line(1, 'password=correct-horse') + line(2, 'password=wrong'));
  const filters: RecordFilter[] = [{ terms: ['correct-horse'] }, { terms: ['rrect'] }, { regex: 'correct.*' }];
  for (const filter of filters) {
    expect(onlyRecords(await search(logs, filter))).toEqual([]);
    const { buckets } = await logs.histogram({ ...filter, buckets: 10 });
    expect(buckets).toEqual([]);
  }
  expect(onlyRecords(await search(logs, { terms: ['password=*************'] }))).toHaveLength(1);
  expect(onlyRecords(await search(logs, { excluded: ['horse'] }))).toHaveLength(2);
});

test('a compressed file that contains a secret is not served as is; one that does not is', async () => {
  const { dir, logs } = scrubbedDir();
  writeFileSync(join(dir, 'a.log.gz'), gzipSync(plantedText()));
  writeFileSync(join(dir, 'b.log.gz'), gzipSync('nothing here\n'));
  writeFileSync(join(dir, 'c.log.gz'), gzipSync('nothing here\n').subarray(0, 20));
  await expect(logs.open('a.log.gz')).rejects.toMatchObject({ code: 'RAW_HAS_SECRETS' });
  await expect(logs.open('a.log.gz')).rejects.toMatchObject({ code: 'RAW_HAS_SECRETS' });
  await expect(logs.open('c.log.gz')).rejects.toMatchObject({ code: 'RAW_HAS_SECRETS' });
  expect(gunzipSync(await raw(logs, 'b.log.gz', 0, 1000)).toString()).toBe('nothing here\n');
  expect(logs.usage.lentBuffers).toBe(0);
});

test.each([
  ['a member behind zeros', (hidden: Buffer) => [gzipSync('nothing\n'), Buffer.alloc(40), hidden]],
  ['a member behind many zeros', (hidden: Buffer) => [gzipSync('nothing\n'), Buffer.alloc(3_000_000), hidden]],
  ['a member behind garbage', (hidden: Buffer) => [gzipSync('nothing\n'), Buffer.from([0, 7]), hidden]],
  ['a second member', (hidden: Buffer) => [gzipSync('nothing\n'), hidden]],
  ['something else behind it', () => [gzipSync('nothing\n'), Buffer.alloc(1), Buffer.from('plain text')]],
])('a compressed file with %s is not served as is', async (_name, partsOf) => {
  const { dir, logs } = scrubbedDir();
  writeFileSync(join(dir, 'a.log.gz'), Buffer.concat(partsOf(gzipSync(plantedText()))));
  await expect(logs.open('a.log.gz')).rejects.toMatchObject({ code: 'RAW_HAS_SECRETS' });
  expect(logs.usage.lentBuffers).toBe(0);
});

test('a compressed file with a secret in its header is not served as is; one padded with zeros is', async () => {
  const { dir, logs } = scrubbedDir(['correct-horse']);
  const packed = gzipSync('nothing\n');
  const named = Buffer.concat([packed.subarray(0, 10), Buffer.from('correct-horse\0'), packed.subarray(10)]);
  named[3] = 8;
  writeFileSync(join(dir, 'a.log.gz'), named);
  writeFileSync(join(dir, 'b.log.gz'), Buffer.concat([packed, gzipSync('more\n'), Buffer.alloc(200_000)]));
  await expect(logs.open('a.log.gz')).rejects.toMatchObject({ code: 'RAW_HAS_SECRETS' });
  expect(gunzipSync(await raw(logs, 'b.log.gz', 0, 1_000_000)).toString()).toBe('nothing\nmore\n');
});

describe('a growing file', () => {
  test('reveals no more than two bytes of a partially written secret', async () => {
    const { dir, logs } = scrubbedDir(['correct-horse']);
    const file = join(dir, 'a.log');
    writeFileSync(file, 'password=');
    for (const sign of 'correct-horse') {
      appendFileSync(file, sign);
      expect((await view(logs, 'a.log', 100)).toString()).toMatch(/^password=(co?|\*{3,13})$/);
      expect((await raw(logs, 'a.log', 9, 100)).toString()).toMatch(/^(co?|\*{3,13})$/);
      expect(onlyRecords(await search(logs, { src: ['=a.log'] }))[0]?.raw).toMatch(/^password=(co?|\*{3,13})$/);
    }
  });

  test('is followed with secrets masked, however they are written, and without loss', async () => {
    const { dir, logs } = scrubbedDir(['correct-horse']);
    const file = join(dir, 'a.log');
    writeFileSync(file, line(1, 'before correct-horse'));
    const abort = new AbortController();
    const items: FollowItem[] = [];
    const follow = logs.follow({ start: { back: 1 }, raw: true }, { signal: abort.signal });
    const done = (async () => {
      for await (const batch of follow) items.push(...batch);
    })();
    const texts = () => onlyRecords(items).map((record) => record.raw ?? '');
    await eventually(() => expect(texts()).toHaveLength(1));
    const second = line(2, 'password=correct-horse, corrected');
    for (let at = 0; at < second.length; at += 3) {
      appendFileSync(file, second.slice(at, at + 3));
      await new Promise((resolve) => setImmediate(resolve));
    }
    appendFileSync(file, line(3, 'the end corre'));
    await eventually(() => expect(texts()).toHaveLength(3));
    // An incomplete secret is emitted masked, and the rest of it when it arrives.
    appendFileSync(file, 'correct-');
    await eventually(() => expect(texts()).toHaveLength(4));
    appendFileSync(file, 'horse\n');
    await eventually(() => expect(texts()).toHaveLength(5));
    abort.abort();
    await done;
    expect(texts()[0]).toContain('before *************');
    expect(texts()[1]).toContain('password=*************, corrected');
    expect(texts()[2]).toContain('the end corre');
    expect(texts().slice(3)).toEqual(['********', '*****']);
  });
});

describe('a secret that becomes known later', () => {
  test('is masked from then on, also in text that was read before', async () => {
    const { dir, logs, scrubbing } = scrubbedDir();
    const file = join(dir, 'a.log');
    writeFileSync(file, '');
    const abort = new AbortController();
    const first: FollowItem[] = [];
    const follow = logs.follow({ start: 'end', raw: true }, { signal: abort.signal });
    await follow.next();
    const done = (async () => {
      for await (const batch of follow) first.push(...batch);
    })();
    appendFileSync(file, line(1, 'with a new-password in it'));
    await eventually(() => expect(onlyRecords(first)).toHaveLength(1));
    expect(scrubbing.add(['new-password'])).toBe(0);
    const cursor = onlyRecords(first)[0]?.cursor ?? '';
    const again = logs.follow({ start: { back: 1 }, raw: true }, { signal: abort.signal });
    const seen: FollowItem[] = [];
    for await (const batch of again) {
      seen.push(...batch);
      if (onlyRecords(seen).length > 0) break;
    }
    expect(onlyRecords(seen)[0]?.raw).toContain('with a ************ in it');
    abort.abort();
    await done;
    expectNoSecret(await view(logs, 'a.log', 1000));
    expect((await view(logs, 'a.log', 1000)).toString()).not.toContain('new-password');
    await expect(search(logs, { start: { cursor } })).rejects.toMatchObject({ code: 'CURSOR_GONE' });
  });

  test('does not change cursors of records without it', async () => {
    const { dir, logs, scrubbing } = scrubbedDir();
    const lines = Array.from({ length: 5000 }, (_, index) =>
      line(index, index === 3000 ? 'late-secret' : `n ${index}`),
    );
    writeFileSync(join(dir, 'a.log'), lines.join(''));
    const before = onlyRecords(await search(logs, {}));
    scrubbing.add(['late-secret']);
    const found = onlyRecords(await search(logs, { start: { record: before[2999]?.cursor ?? '' }, limit: 2 }));
    expect(found[0]?.offset).toBe(before[2999]?.offset);
    expect(found[1]?.raw).toContain('***********');
  });
});

test('all ways of reading return the same scrubbed text', async () => {
  const { dir, logs } = scrubbedDir(['aabbaab', 'abcabcabc', 'secret with blanks']);
  const needles = ['aabbaab', 'abcabcabc', 'secret with blanks'].flatMap(needleForms);
  const piece = fc.constantFrom('aabb', 'aab', 'abc', '\n', 'secret ', 'with blanks', 'YWFiYmFhYg', 'x', '%20', '+');
  let count = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { minLength: 1, maxLength: 60 }),
      fc.nat(200),
      fc.nat(50),
      async (pieces, at, length) => {
        const text = Buffer.from(`${pieces.join('')}\n`);
        const name = `r${count++}.log`;
        writeFileSync(join(dir, name), text);
        writeFileSync(join(dir, `${name}.gz`), gzipSync(text));
        const expected = slowScrub(text, needles).toString();
        expect((await view(logs, name, 10_000)).toString()).toBe(expected);
        expect((await view(logs, `${name}.gz`, 10_000)).toString()).toBe(expected);
        expect((await raw(logs, name, at, at + length)).toString()).toBe(expected.slice(at, at + length));
        for (const file of [name, `${name}.gz`]) {
          const records = onlyRecords(await search(logs, { src: [`=${file}`] }));
          expect(
            records
              .map((record) => record.raw)
              .join('\n')
              .trimEnd(),
          ).toBe(expected.replace(/\n$/, '').trimEnd());
        }
      },
    ),
    { numRuns: runs(8) },
  );
});
