import { appendFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, test } from 'vitest';
import { createZone } from '../parse/zone.ts';
import { runSearch } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';
import type { SearchQuery } from '../types.ts';

const START = Date.parse('2026-06-01T10:00:00Z');

test('a JSON record whose time is beyond 4 KiB is found by its time', async () => {
  const dir = tempDir();
  const time = new Date(START).toISOString();
  // As Docker writes it.
  writeFileSync(join(dir, 'a.log'), `${JSON.stringify({ log: 'z'.repeat(5000), stream: 'stdout', time })}\n`.repeat(3));
  const logs = openDir(dir);
  expect((await runSearch(logs, {})).records.map(({ timeMs }) => timeMs)).toEqual([START, START, START]);
  expect((await runSearch(logs, { fromMs: START })).records).toHaveLength(3);
});

test('a JSON record longer than 4 KiB is grouped by its source', async () => {
  const dir = tempDir();
  const record = { level: 'error', ts: START / 1000, caller: 'x/y.go:12', msg: 'm', body: 'z'.repeat(5000) };
  writeFileSync(join(dir, 'a.log'), `${JSON.stringify(record)}\n`.repeat(3));
  const { groups } = await openDir(dir).digest({ limit: 5 });
  expect(groups).toMatchObject([{ source: 'x/y.go:12', shape: null, count: 3 }]);
});

test('more shapes than fit are merged where they are similar, and counted where they are not', async () => {
  const dir = tempDir();
  const letters = (value: number) => [...String(value)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
  const write = (name: string, message: (value: string) => string) => {
    const lines = Array.from({ length: 5200 }, (_, index) => `2026-06-01T10:00:00Z INFO ${message(letters(index))}\n`);
    writeFileSync(join(dir, name), lines.join(''));
  };
  write('similar.log', (name) => `peer x${name} left the ring`);
  write('different.log', (name) => `x${name} y${name} z${name}`);
  const logs = openDir(dir);
  const similar = await logs.digest({ src: ['=similar.log'], limit: 5 });
  expect(similar.groups).toMatchObject([{ shape: 'peer * left the ring', count: 5200 }]);
  expect([similar.totalGroups, similar.ungrouped, similar.end.records]).toEqual([1, 0, 5200]);
  const different = await logs.digest({ src: ['=different.log'], limit: 5 });
  expect([different.totalGroups + different.ungrouped, different.end.records]).toEqual([5200, 5200]);
  expect(different.ungrouped).toBeGreaterThan(0);
});

test('the index of a file does not outlive its text, if the next one starts alike', async () => {
  const dir = tempDir();
  const path = join(dir, 'a.log');
  const text = (level: string) =>
    'a banner without a time\n'.repeat(60) + `2026-06-01 10:00:00.000\t${level}\ta.go:1\tline\n`.repeat(6_000);
  writeFileSync(path, text('INFO'));
  const logs = openDir(dir);
  expect((await runSearch(logs, { minLevel: 'ERROR' })).records).toEqual([]);
  truncateSync(path, 0);
  appendFileSync(path, text('ERROR'));
  expect((await runSearch(logs, { minLevel: 'ERROR' })).records).toHaveLength(6_000);
});

test('a search that runs out of time before it makes progress does not look exhausted', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'a.log'), '2026-06-01 10:00:00.000\tINFO\ta.go:1\tline\n'.repeat(30_000));
  const logs = openDir(dir);
  await runSearch(logs, { limit: 1 });
  const { end, records } = await runSearch(logs, {}, { budgetMs: 0 });
  // However far it got, continuing returns all of it.
  expect(end.reason).toBe('time budget');
  const rest = await runSearch(logs, { start: { cursor: end.cursor ?? '' } });
  expect(records.length + rest.records.length).toBe(30_000);
});

test.each(['oldest', 'newest'] as const)(
  'a search from a time (%s first) that takes longer to find than its budget continues at that time',
  async (order) => {
    const dir = tempDir();
    const path = join(dir, 'a.log');
    const line = (second: number) => `${new Date(START + second * 1000).toISOString()}\tINFO\ta.go:1\tline ${second}\n`;
    writeFileSync(path, line(0) + line(1));
    // A hole: finding a time in it means reading all of it.
    truncateSync(path, 6 * 1024 ** 2);
    appendFileSync(path, `\n${line(2)}${line(3)}${line(4)}`);
    const logs = openDir(dir);
    const first = await runSearch(logs, { order, start: { timeMs: START + 3000 }, limit: 2 }, { budgetMs: 1 });
    const rest =
      first.end.cursor === null ? [] : (await runSearch(logs, { order, start: { cursor: first.end.cursor } })).records;
    const messages = [...first.records, ...rest]
      .map(({ message }) => message.slice(0, 6))
      .filter((text) => text.startsWith('line'));
    expect(messages.slice(0, 2)).toEqual(order === 'oldest' ? ['line 3', 'line 4'] : ['line 2', 'line 1']);
  },
);

describe('holes of NULs inside a log', () => {
  const lineOf = (number: number) => {
    const time = new Date(START + number * 1000).toISOString();
    // Long, so that a block has hundreds of them and not thousands.
    const message = `${'x'.repeat(300)} line ${number}`;
    return {
      contract: `${time.slice(0, -1).replace('T', ' ')}\tERROR\ta.go:1\t${message}\n`,
      json: `${JSON.stringify({ time, level: 'error', msg: message })}\n`,
      iso: `${time} ERROR [main] app - ${message}\n`,
    };
  };
  const cases = [
    ['contract', 256],
    ['json', 5000],
    ['contract', 300_000],
    ['iso', 600_001],
  ] as const;
  test.each(cases)('are no part of a record: %s, %i bytes', async (format, holeBytes) => {
    const dir = tempDir();
    const line = (number: number) => lineOf(number)[format];
    const many = (from: number, count: number) => Array.from({ length: count }, (_, index) => line(from + index));
    // The first hole follows a whole line near the border of a block, the second one a part of a line.
    const before = many(0, Math.floor(262_000 / line(1000).length));
    const count = before.length;
    const text = [...before, '\0'.repeat(holeBytes), ...many(count, 50)].join('').slice(0, -9);
    const bytes = Buffer.from(`${text}${'\0'.repeat(holeBytes)}${many(count + 50, 20).join('')}`);
    writeFileSync(join(dir, 'a.log'), bytes);
    writeFileSync(join(dir, 'b.log.1.gz'), gzipSync(bytes));
    const logs = openDir(dir, { zone: createZone('UTC') });
    for (const file of ['a.log', 'b.log.1.gz']) {
      const numbers = async (query: Partial<SearchQuery>) => {
        const { records, end } = await runSearch(logs, { src: [`=${file}`], limit: 100_000, ...query });
        expect(records.every(({ timeMs }) => timeMs !== undefined || format === 'json')).toBe(true);
        return { found: records.map(({ message }) => /line (\d+)/.exec(message)?.[1]).map(Number), end };
      };
      const cut = count + 49;
      const known = (found: number[]) =>
        found.map((number) => (Number.isNaN(number) || number * 10 < cut ? cut : number));
      const all = Array.from({ length: count + 70 }, (_, index) => index);
      const oldest = await numbers({ order: 'oldest' });
      expect(oldest.found.length).toBe(all.length);
      expect(oldest.end.problems).toMatchObject([{ file, code: 'NUL_BYTES' }]);
      expect(known(oldest.found.slice(cut - 60))).toEqual(all.slice(cut - 60));
      expect((await numbers({ order: 'newest' })).found).toEqual(oldest.found.toReversed());
      expect((await numbers({ order: 'oldest', minLevel: 'ERROR' })).found.length).toBeGreaterThanOrEqual(count + 69);
      const range = { fromMs: START + (count + 50) * 1000, toMs: START + (count + 53) * 1000 };
      expect((await numbers({ order: 'oldest', ...range })).found).toEqual([count + 50, count + 51, count + 52]);
      const term = (await numbers({ order: 'oldest', terms: [`line ${count + 50}`] })).found;
      expect(term).toEqual([count + 50]);
      const { records } = (await logs.histogram({ src: [`=${file}`], buckets: 3 })).end;
      expect(records).toBe(all.length);
    }
  });
});
