import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { eventually } from '../testing/eventually.ts';
import { fillQuery, runSearch, searchPages } from '../testing/run-search.ts';
import { SLOW_REGEX, slowText } from '../testing/slow-regex.ts';
import { openDir } from '../testing/temp-dir.ts';

const HEAD = '2026-06-01 10:00:00.000\tINFO\ta.go:1\t';

/** A log in which the slow regex takes long on every record, and one for an ordinary search. */
function writeSlowLog({ records, characters }: { records: number; characters: number }): string {
  const dir = tempDir();
  const text = slowText(characters + records);
  const lines = Array.from({ length: records }, (_, n) => `${HEAD}${unmatched(text.slice(n, n + characters))}Q\n`);
  writeFileSync(join(dir, 'slow.log'), lines.join(''));
  writeFileSync(join(dir, 'plain.log'), `${HEAD}needle\n`);
  return dir;
}

/** Differs from a match of the slow regex by one letter, which only the regex itself can detect. */
function unmatched(text: string): string {
  return `${text.slice(0, -901)}b${text.slice(-900)}`;
}

const slow = { src: ['=slow.log'], regex: SLOW_REGEX };
const plain = { src: ['=plain.log'], terms: ['needle'] };

describe('searches with a slow regex', () => {
  it('yield to others before they have ended', async () => {
    const logs = openDir(writeSlowLog({ records: 4000, characters: 2000 }), { workers: 1 });
    const abort = new AbortController();
    const ended: string[] = [];
    const options = { signal: abort.signal };
    const questions = [
      runSearch(logs, slow, options).then(({ end }) => ended.push(end.reason)),
      logs.histogram({ ...slow, buckets: 1 }, options).then(({ end }) => ended.push(end.reason)),
      logs.digest({ ...slow, limit: 1 }, options).then(({ end }) => ended.push(end.reason)),
    ];
    expect((await runSearch(logs, plain)).records).toHaveLength(1);
    expect(ended).toEqual([]);
    abort.abort();
    await Promise.all(questions);
    expect(ended).toEqual(['cancelled', 'cancelled', 'cancelled']);
    expect(logs.usage).toMatchObject({ jobs: 0, searches: 0 });
  });

  it('end with their budget, in the middle of a block', async () => {
    const logs = openDir(writeSlowLog({ records: 4000, characters: 2000 }), { workers: 2 });
    const responses = await Promise.all([
      runSearch(logs, slow, { budgetMs: 1 }),
      runSearch(logs, { ...slow, order: 'newest' }, { budgetMs: 300 }),
      logs.histogram({ ...slow, buckets: 1 }, { budgetMs: 300 }),
      logs.digest({ ...slow, limit: 1 }, { budgetMs: 300 }),
    ]);
    expect(responses.map(({ end }) => end.reason)).toEqual(Array(4).fill('time budget'));
    expect(logs.usage).toMatchObject({ jobs: 0 });
  });

  it('end if they are stuck in a single record, and report it', async () => {
    const logs = openDir(writeSlowLog({ records: 1, characters: 200_000 }), { workers: 1 });
    await runSearch(logs, { ...plain, regex: slow.regex }); // the thread has started and has compiled it
    const [{ end }, found] = await Promise.all([runSearch(logs, slow, { budgetMs: 1000 }), runSearch(logs, plain)]);
    expect(end.reason).toBe('time budget');
    expect(end.problems).toMatchObject([{ file: 'slow.log', code: 'REGEX_TOO_COMPLEX' }]);
    expect(found.records).toHaveLength(1);
    expect(logs.usage).toMatchObject({ jobs: 0, replacedThreads: 1 });
    expect((await runSearch(logs, { ...plain, regex: 'n.*dle' })).records).toHaveLength(1);
  });

  it('leave nothing behind when their reader stops, at any time', async () => {
    const logs = openDir(writeSlowLog({ records: 500, characters: 500 }), { workers: 1 });
    for (const turns of [0, 1, 3, 10, 30, 100]) {
      const abort = new AbortController();
      const response = runSearch(logs, slow, { signal: abort.signal });
      for (let turn = 0; turn < turns; turn++) await nextTurn();
      abort.abort();
      expect((await response).end).toMatchObject({ records: 0 });
    }
    expect(logs.usage).toMatchObject({ jobs: 0, searches: 0 });
  });
});

describe('a search that pauses in the middle of blocks', () => {
  it.each(['oldest', 'newest'] as const)('finds every record once, %s first, page by page', async (order) => {
    const dir = tempDir();
    const text = slowText(3000);
    const lines = Array.from({ length: 100 }, (_, n) => `${HEAD}${text.slice(n, n + 700)}${n % 20 === 0 ? 'Q' : ''}\n`);
    writeFileSync(join(dir, 'a.log'), lines.join(''));
    const logs = openDir(dir, { workers: 2 });
    const query = { src: ['=a.log'], regex: '[ab]*a[ab]{300}Q', order };
    const wanted = lines.flatMap((line, n) => (/a[ab]{300}Q/.test(line) ? [n] : []));
    expect(wanted.length).toBeGreaterThan(2);
    if (order === 'newest') wanted.reverse();
    const bytes = lines.map((line) => line.length);
    const offsets = bytes.map((_, n) => bytes.slice(0, n).reduce((sum, more) => sum + more, 0));
    const whole = await runSearch(logs, query);
    expect(whole.records.map(({ offset }) => offsets.indexOf(offset))).toEqual(wanted);
    expect(whole.end).toMatchObject({ reason: 'exhausted', scannedBytes: bytes.reduce((sum, more) => sum + more, 0) });
    const paged = await searchPages(logs, query, [1, 3]);
    expect(paged.map(({ offset }) => offsets.indexOf(offset))).toEqual(wanted);
    const { end } = await logs.histogram({ ...query, buckets: 1 });
    expect(end).toMatchObject({ reason: 'exhausted', records: wanted.length });
    expect((await logs.digest({ ...query, limit: 5 })).end.records).toBe(wanted.length);
  });

  it('continues from its cursor when its budget ended it, and misses nothing', async () => {
    const dir = tempDir();
    const text = slowText(1000);
    const lines = Array.from({ length: 8 }, (_, n) => `${HEAD}${text.slice(n, n + 950)}Q\n`);
    writeFileSync(join(dir, 'slow.log'), lines.join(''));
    const logs = openDir(dir, { workers: 1 });
    const query = { src: ['=slow.log'], regex: SLOW_REGEX };
    const { records: every } = await runSearch(logs, { src: ['=slow.log'] });
    const all = every.filter(({ message }) => /a[ab]{900}Q/.test(message)).map(({ offset }) => offset);
    expect(all.length).toBeGreaterThan(2);
    const found: number[] = [];
    let pages = 0;
    for (let cursor: string | null | undefined; cursor !== null; pages++) {
      const start = cursor === undefined ? {} : { start: { cursor } };
      const { records, end } = await runSearch(logs, { ...query, ...start }, { budgetMs: 200 });
      found.push(...records.map(({ offset }) => offset));
      cursor = end.cursor;
    }
    expect(found).toEqual(all);
    expect(pages).toBeGreaterThan(1);
  });
});

describe('a follow with a slow regex', () => {
  it('ends with an error instead of blocking a thread, and others continue', async () => {
    const dir = writeSlowLog({ records: 0, characters: 0 });
    const logs = openDir(dir, { workers: 1 });
    const follow = logs.follow({ ...slow, start: 'end' });
    await follow.next();
    writeFileSync(join(dir, 'slow.log'), `${HEAD}${slowText(1024 ** 2)}Q\n${HEAD}\n`);
    const failed = expect(follow.next()).rejects.toMatchObject({ code: 'REGEX_TOO_COMPLEX' });
    await eventually(() => expect(logs.usage.jobs).toBe(1));
    expect((await runSearch(logs, plain)).records).toHaveLength(1);
    await failed;
    expect(logs.usage).toMatchObject({ jobs: 0, replacedThreads: 1 });
  });

  it('ends if its reader stops while it is compiled', async () => {
    const logs = openDir(writeSlowLog({ records: 1, characters: 1 }), { workers: 1 });
    const abort = new AbortController();
    const follow = logs.follow({ ...slow, start: 'end' }, { signal: abort.signal });
    const first = follow.next();
    abort.abort();
    expect(await first).toMatchObject({ value: [{ type: 'end', reason: 'cancelled' }] });
    expect((await runSearch(logs, plain)).records).toHaveLength(1);
  });
});

it('the plain search that waits also covers many blocks', async () => {
  const dir = writeSlowLog({ records: 4000, characters: 2000 });
  writeFileSync(join(dir, 'plain.log'), `${HEAD}a plain line\n`.repeat(60_000));
  const logs = openDir(dir, { workers: 1 });
  const abort = new AbortController();
  const slowOnes = [1, 2, 3].map(() => runSearch(logs, slow, { signal: abort.signal }));
  const { end } = await runSearch(logs, fillQuery({ src: ['=plain.log'], terms: ['nowhere'] }));
  expect(end).toMatchObject({ reason: 'exhausted', records: 0 });
  abort.abort();
  expect((await Promise.all(slowOnes)).map((response) => response.end.reason)).toEqual(Array(3).fill('cancelled'));
});
