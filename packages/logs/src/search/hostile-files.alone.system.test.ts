import {
  appendFileSync,
  chmodSync,
  closeSync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { constants, gunzipSync, gzipSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, test } from 'vitest';
import { BLOCK_BYTES } from '../scan/block/blocks.ts';
import { eventually } from '../testing/eventually.ts';
import { BERLIN } from '../testing/random-record.ts';
import { fillQuery, runSearch, searchItems } from '../testing/run-search.ts';
import { runUnprivileged } from '../testing/run-unprivileged.ts';
import { openBelow, openDir } from '../testing/temp-dir.ts';
import type { FoundRecord, SearchEnd } from '../types.ts';

const MIB = 1024 ** 2;
const OPTIONS = { zone: BERLIN };

/** Numbered lines of one hour. */
function lines(count: number, hour: number): string {
  return Array.from({ length: count }, (_, index) => {
    const time = new Date(Date.UTC(2026, 5, 1, hour, 0, 0, index)).toISOString().slice(0, -1).replace('T', ' ');
    return `${time}\tINFO\ta.go:1\thour ${hour} line ${index}\n`;
  }).join('');
}

const messages = (records: readonly FoundRecord[]) => records.map(({ message }) => message);
const numbered = (count: number, hour: number) =>
  Array.from({ length: count }, (_, index) => `hour ${hour} line ${index}`);

describe('a family with a file that is', () => {
  /** Three files; the middle one as given. */
  function family(middle: Buffer, name = 'a.log.1.gz') {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log.2.gz'), gzipSync(lines(100, 1)));
    writeFileSync(join(dir, name), middle);
    writeFileSync(join(dir, 'a.log'), lines(100, 3));
    return { dir, logs: openDir(dir, OPTIONS) };
  }
  const packed = gzipSync(lines(5000, 2), { level: 1 });

  /** All that can be read of it is the date, with which the live file begins, too. */
  const dateOnly = Array.from({ length: 200 }, (_, bytes) => packed.subarray(0, bytes)).find((start) => {
    const text = start.length > 18 ? gunzipSync(start, { finishFlush: constants.Z_SYNC_FLUSH }).toString() : '';
    return text.length > 0 && '2026-06-01 0'.startsWith(text);
  });

  /** With the number of records that must be returned nevertheless. */
  const damages: [string, Buffer, number][] = [
    ['not an archive at all', Buffer.from('this is not gzip data'), 0],
    ['an archive cut in its header', packed.subarray(0, 6), 0],
    ['an archive cut in its first line', dateOnly ?? expect.unreachable(), 0],
    ['an archive cut in the middle', packed.subarray(0, packed.length / 2), 2000],
    ['an archive cut in its trailer', packed.subarray(0, -3), 5000],
    [
      'an archive with flipped bytes',
      Buffer.concat([packed.subarray(0, 9000), Buffer.alloc(300, 0xa5), packed.subarray(9300)]),
      1000,
    ],
    ['an archive with trailing garbage', Buffer.concat([packed, Buffer.from('garbage')]), 5000],
  ];
  test.each(damages)('%s reports it, and returns everything of the others', async (_, middle, sound) => {
    const { logs } = family(middle);
    for (const order of ['oldest', 'newest'] as const) {
      const { records, end } = await runSearch(logs, { src: ['a.log'], order });
      const returned = messages(order === 'oldest' ? records : [...records].reverse());
      expect(returned.slice(0, 100)).toEqual(numbered(100, 1));
      expect(returned.slice(-100)).toEqual(numbered(100, 3));
      // What precedes the damage is returned too, as far as that is known.
      expect(returned.slice(100, 100 + sound)).toEqual(numbered(sound, 2));
      expect(end).toMatchObject({ reason: 'exhausted', problems: [{ file: 'a.log.1.gz', code: 'LOG_FILE_CORRUPT' }] });
    }
    const counted = await logs.histogram({ src: ['a.log'], buckets: 10 });
    expect(counted.end.problems).toMatchObject([{ file: 'a.log.1.gz', code: 'LOG_FILE_CORRUPT' }]);
    const grouped = await logs.digest({ src: ['a.log'], limit: 10 });
    expect(grouped.end.problems).toMatchObject([{ file: 'a.log.1.gz', code: 'LOG_FILE_CORRUPT' }]);
    expect(grouped.end.records).toBe(counted.end.records);
  });

  test('an archive of nothing, or an empty one, returns the others', async () => {
    for (const middle of [gzipSync(''), Buffer.alloc(0)]) {
      const { logs } = family(middle);
      const { records, end } = await runSearch(logs, { src: ['a.log'] });
      expect(messages(records)).toEqual([...numbered(100, 1), ...numbered(100, 3)]);
      expect(end.problems).toEqual([]);
    }
  });

  test('unreadable reports it, and returns everything of the others', () => {
    const { dir } = family(Buffer.from(lines(100, 2)), 'a.log.1');
    chmodSync(dir, 0o755);
    chmodSync(join(dir, 'a.log.1'), 0o000);
    const script = join(import.meta.dirname, '../testing/search-unprivileged.mjs');
    const returned = runUnprivileged(script, dir, 'a.log');
    const { records, end } = JSON.parse(returned) as { records: FoundRecord[]; end: SearchEnd };
    expect(messages(records)).toEqual([...numbered(100, 1), ...numbered(100, 3)]);
    expect(end).toMatchObject({ reason: 'exhausted', problems: [{ file: 'a.log.1', code: 'LOG_FILE_UNREADABLE' }] });
  });

  test('deleted between listing and opening returns the others', async () => {
    const { dir, logs } = family(Buffer.from(lines(100, 2)), 'a.log.1');
    // Listed as a file, and deleted when it is opened.
    const search = searchItems(logs, fillQuery({ src: ['a.log'] }));
    await logs.list();
    const first = search.next();
    rmSync(join(dir, 'a.log.1'));
    await first;
    const items = [];
    for await (const batch of search) items.push(...batch);
    const records = items.filter((item) => item.type === 'record');
    const rest = messages(records).filter((message) => !message.startsWith('hour 2'));
    expect(rest).toEqual([...numbered(100, 1), ...numbered(100, 3)]);
    expect(items.at(-1)).toMatchObject({ type: 'end', reason: 'exhausted', problems: [] });
  });

  test('a dangling link returns the others', async () => {
    const { dir, logs } = family(Buffer.from(lines(100, 2)), 'a.log.1');
    rmSync(join(dir, 'a.log.1'));
    symlinkSync('missing', join(dir, 'a.log.1'));
    const { records } = await runSearch(logs, { src: ['a.log'] });
    expect(messages(records)).toEqual([...numbered(100, 1), ...numbered(100, 3)]);
  });
});

describe('a file truncated while it is scanned', () => {
  test.each(['oldest', 'newest'] as const)('%s first: is reported, and the other files are complete', async (order) => {
    const dir = tempDir();
    const path = join(dir, 'a.log.1');
    writeFileSync(join(dir, 'a.log.2'), lines(200, 1));
    // Longer than everything that is scanned ahead.
    writeFileSync(path, lines(40, 2));
    appendFileSync(path, `${'-'.repeat(200)}\n`.repeat(100_000));
    appendFileSync(path, Buffer.alloc(96 * MIB, `2026-06-01 04:00:00.000\tINFO\ta.go:1\t${'filler '.repeat(300)}\n`));
    writeFileSync(join(dir, 'a.log'), lines(200, 20));
    const logs = openDir(dir, OPTIONS);
    const found: FoundRecord[] = [];
    let end: SearchEnd | undefined;
    for await (const batch of searchItems(logs, fillQuery({ src: ['a.log'], order, excluded: ['filler'] }))) {
      for (const item of batch) {
        if (item.type === 'record') found.push(item);
        else end = item;
      }
      truncateSync(path, 1000);
    }
    const others = messages(order === 'oldest' ? found : found.reverse()).filter((message) =>
      /^hour (1|20) /.test(message),
    );
    expect(others).toEqual([...numbered(200, 1), ...numbered(200, 20)]);
    expect(end).toMatchObject({ reason: 'exhausted', problems: [{ file: 'a.log.1', code: 'LOG_FILE_TRUNCATED' }] });
  });

  test('between two steps of one part is reported, too', async () => {
    const dir = tempDir();
    const path = join(dir, 'a.log');
    writeFileSync(path, lines(60_000, 2));
    const logs = openDir(dir, OPTIONS);
    let end: SearchEnd | undefined;
    for await (const batch of searchItems(logs, fillQuery({ src: ['=a.log'], raw: true }))) {
      const last = batch.at(-1);
      if (last?.type === 'end') end = last;
      // Parts from here on are so large that they are emitted in several steps.
      else if (last && last.offset > 6 * BLOCK_BYTES) truncateSync(path, 100);
    }
    expect(end).toMatchObject({ reason: 'exhausted', problems: [{ file: 'a.log', code: 'LOG_FILE_TRUNCATED' }] });
  });
});

describe('a line of 120 MB', () => {
  const SIZE = 120_000_000;

  function writeLong(dir: string): void {
    const fd = openSync(join(dir, 'a.log'), 'w');
    writeSync(fd, lines(10, 1));
    writeSync(fd, '2026-06-01 02:00:00.000\tERROR\ta.go:1\tlong ');
    const chunk = Buffer.alloc(MIB, 'x');
    for (let written = 0; written < SIZE; written += chunk.length) writeSync(fd, chunk);
    writeSync(fd, ' needle in the haystack\n');
    writeSync(fd, lines(10, 3));
    closeSync(fd);
  }

  test('is split, and searched in little memory', async () => {
    const dir = tempDir();
    writeLong(dir);
    const logs = openDir(dir, OPTIONS);
    const warmUp = await runSearch(logs, { src: ['=a.log'], limit: 1 });
    expect(messages(warmUp.records)).toEqual(['hour 1 line 0']);
    const before = process.memoryUsage.rss();

    const newest = await runSearch(logs, { src: ['=a.log'], order: 'newest', limit: 12 });
    expect(messages(newest.records).slice(0, 10)).toEqual(numbered(10, 3).reverse());
    expect(newest.records[10]).toMatchObject({ continued: true });
    expect(newest.records[11]).toMatchObject({ continued: true, bytes: BLOCK_BYTES, cut: true });

    const errors = await runSearch(logs, { src: ['=a.log'], minLevel: 'ERROR' });
    expect(errors.records).toMatchObject([{ level: 'ERROR', cut: true }]);

    const found = await runSearch(logs, { src: ['=a.log'], terms: ['Needle'] });
    expect(found.records).toMatchObject([{ continued: true }]);
    const part = found.records[0] as FoundRecord;
    expect(part.bytes).toBeLessThanOrEqual(2 * BLOCK_BYTES);

    const { records } = await runSearch(logs, { src: ['=a.log'], regex: 'x needle', order: 'newest' });
    expect(records.map(({ offset }) => offset)).toEqual([part.offset]);
    // Other threads of this process grow as well.
    expect(process.memoryUsage.rss() - before).toBeLessThan(SIZE);
  });
});

describe('a file of NULs', () => {
  test('is skipped quickly, and what follows is found', async () => {
    const dir = tempDir();
    const path = join(dir, 'a.log');
    const fd = openSync(path, 'w');
    ftruncateSync(fd, 24 * MIB);
    closeSync(fd);
    const logs = openDir(dir, OPTIONS);
    const all = await runSearch(logs, { src: ['=a.log'], limit: 3 });
    // Split in the middle of every block.
    expect(all.records.map(({ offset, bytes }) => [offset / BLOCK_BYTES, bytes / BLOCK_BYTES])).toEqual([
      [0, 1.5],
      [1.5, 1],
      [2.5, 1],
    ]);
    expect((await runSearch(logs, { src: ['=a.log'], terms: ['x'] })).records).toEqual([]);
    expect((await logs.histogram({ src: ['=a.log'], buckets: 10 })).untimed).toBe((24 * MIB) / BLOCK_BYTES);
    truncateSync(path, 23 * MIB);
    appendFileSync(path, lines(100, 5));
    for (const order of ['newest', 'oldest'] as const) {
      const behind = await runSearch(logs, { src: ['=a.log'], order, limit: 100 });
      expect(behind.records.every(({ timeMs }) => timeMs !== undefined)).toBe(true);
      const wanted = numbered(100, 5);
      expect(messages(behind.records)).toEqual(order === 'newest' ? wanted.reverse() : wanted);
    }
  });

  test('in front of a log, as left by copytruncate, hides nothing of it', async () => {
    const dir = tempDir();
    const path = join(dir, 'a.log');
    writeFileSync(path, lines(500, 1));
    const fd = openSync(path, 'r+');
    const middle = 8 * MIB + 77;
    writeSync(fd, `\n${lines(2000, 2)}`, middle);
    closeSync(fd);
    const logs = openDir(dir, OPTIONS);
    const fromMs = Date.parse('2026-06-01T00:00:01Z');
    const { records } = await runSearch(logs, { src: ['=a.log'], fromMs, toMs: fromMs + 100 });
    expect(messages(records)).toEqual(numbered(2000, 2).slice(1000, 1100));
    const { records: first } = await runSearch(logs, { src: ['=a.log'], start: { timeMs: fromMs }, limit: 1 });
    expect(messages(first)).toEqual(['hour 2 line 1000']);
  });
});

describe('after every kind of search', () => {
  test('no file, thread or query is left', async () => {
    const dir = tempDir();
    for (let index = 0; index < 3; index++) writeFileSync(join(dir, `a.log.${index + 1}`), lines(3000, 10 - index));
    writeFileSync(join(dir, 'a.log'), '');
    writeFileSync(join(dir, 'b.log.gz'), gzipSync(lines(3000, 1)));
    writeFileSync(join(dir, 'broken.log.gz'), 'no archive');
    const logs = openDir(dir, { ...OPTIONS, workers: 2 });
    const ways: (() => Promise<unknown>)[] = [
      () => runSearch(logs, {}),
      () => expect(runSearch(logs, { regex: '(' })).rejects.toMatchObject({ code: 'REGEX_INVALID' }),
      () =>
        expect(runSearch(logs, { start: { cursor: 'nonsense' } })).rejects.toMatchObject({ code: 'CURSOR_INVALID' }),
      () => expect(runSearch(logs, { src: ['nowhere'] })).rejects.toMatchObject({ code: 'LOG_FAMILY_NOT_FOUND' }),
      () => expect(runSearch(logs, { src: ['=nowhere'] })).rejects.toMatchObject({ code: 'LOG_FILE_NOT_FOUND' }),
      () => expect(logs.histogram({ buckets: 3, regex: '(' })).rejects.toMatchObject({ code: 'REGEX_INVALID' }),
      () => expect(logs.top({ by: 'x', limit: 3, regex: '(' })).rejects.toMatchObject({ code: 'REGEX_INVALID' }),
      () => expect(logs.fields({ limit: 3, regex: '(' })).rejects.toMatchObject({ code: 'REGEX_INVALID' }),
      () => logs.digest({ limit: 3, minLevel: 'INFO' }),
      // Started and abandoned: before the first batch, after it, in the middle.
      async () => void (await searchItems(logs, fillQuery({})).return()),
      async () => {
        const search = searchItems(logs, fillQuery({}));
        await search.next();
        await search.return();
      },
      async () => {
        const search = searchItems(logs, fillQuery({ before: 1, after: 1 }));
        for (let turn = 0; turn < 3; turn++) await search.next();
        await search.return();
      },
      async () => {
        const abort = new AbortController();
        const search = runSearch(logs, {}, { signal: abort.signal }).catch(() => {}); // aborted before or after its end
        abort.abort();
        await search;
      },
      async () => {
        const abort = new AbortController();
        for await (const _ of searchItems(logs, fillQuery({ before: 2 }), { signal: abort.signal })) abort.abort();
      },
      () => runSearch(logs, {}, { budgetMs: 1 }),
      () => logs.histogram({ buckets: 3 }, { budgetMs: 0 }),
      () => logs.top({ by: 'message', limit: 3, buckets: 3 }, { countLimits: { maxCells: 1 } }),
      () => logs.top({ by: 'source', limit: 3, buckets: 3 }, { budgetMs: 0 }),
      () => logs.fields({ limit: 3 }, { budgetMs: 0 }),
      () => logs.digest({ limit: 3 }, { signal: AbortSignal.timeout(1) }).catch(() => {}), // may be faster than the timeout
    ];
    for (let turn = 0; turn < 2; turn++) await Promise.all(ways.map((way) => way()));
    expect(logs.usage).toMatchObject({ searches: 0, lentBuffers: 0 });
    await logs.close();
    expect(logs.usage).toMatchObject({ openFiles: 0, threads: 0, searches: 0 });
    await eventually(() => expect(openBelow(dir)).toBe(0));
  });
});

describe('a compressed file', () => {
  test('is searched even while another query for it is cancelled', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log.gz'), gzipSync(lines(100_000, 1), { level: 1 }));
    const logs = openDir(dir, OPTIONS);
    for (let turn = 0; turn < 2; turn++) {
      // A different file with the same start: nothing is cached of it.
      writeFileSync(join(dir, 'b.log.gz'), gzipSync(lines(100_000, turn + 2), { level: 1 }));
      renameSync(join(dir, 'b.log.gz'), join(dir, 'a.log.gz'));
      const abort = new AbortController();
      const first = searchItems(logs, fillQuery({ src: ['=a.log.gz'], limit: 1 }), { signal: abort.signal });
      await first.next();
      const left = first.next().catch(() => {}); // aborted before or after its end
      await new Promise((resolve) => setImmediate(resolve));
      abort.abort();
      const second = await runSearch(logs, { src: ['=a.log.gz'], limit: 1 });
      expect(second.records).toHaveLength(1);
      await left;
      await first.return();
    }
  });
});

describe('a search with a time budget', () => {
  test('ends with a cursor from which the rest is returned exactly', async () => {
    const dir = tempDir();
    for (let index = 0; index < 4; index++) writeFileSync(join(dir, `a.log.${4 - index}`), lines(25_000, index + 1));
    const logs = openDir(dir, OPTIONS);
    for (const order of ['oldest', 'newest'] as const) {
      const query = { src: ['a.log'], order, terms: ['7'], regex: 'line [0-9]*77' };
      const whole = await runSearch(logs, query);
      expect(whole.end.reason).toBe('exhausted');
      const found: FoundRecord[] = [];
      let stops = 0;
      let budgetMs = 1;
      let cursor: string | null | undefined;
      while (cursor !== null) {
        const start = cursor === undefined ? {} : { start: { cursor } };
        const { records, end } = await runSearch(logs, { ...query, ...start }, { budgetMs });
        found.push(...records);
        if (end.reason === 'time budget') stops++;
        // A search that made no progress can only be repeated with a larger budget.
        if (end.cursor === null || end.cursor === cursor) budgetMs *= 2;
        cursor = end.reason === 'time budget' ? (end.cursor ?? cursor) : null;
      }
      expect(stops).toBeGreaterThan(0);
      expect(found.map(({ file, offset }) => [file, offset])).toEqual(
        whole.records.map(({ file, offset }) => [file, offset]),
      );
    }
  });
});

describe('an aborted search', () => {
  test('ends, with or without a closing record, and releases its threads', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), Buffer.alloc(64 * MIB, lines(1000, 1)));
    const logs = openDir(dir, OPTIONS);
    for (const query of [
      { regex: '(a|b|c)*nowhere' },
      { terms: ['nowhere'] },
      { before: 3 },
      { minLevel: 'FATAL' as const },
    ]) {
      const abort = new AbortController();
      const search = searchItems(logs, fillQuery({ src: ['=a.log'], ...query }), { signal: abort.signal });
      await search.next();
      const rest = (async () => {
        let last: string | undefined;
        for await (const batch of search) last = batch.at(-1)?.type;
        return last;
      })();
      abort.abort();
      expect(await rest).toBe('end');
      await eventually(() => expect(logs.usage.searches).toBe(0));
    }
    expect(logs.usage.lentBuffers).toBe(0);
  });
});
