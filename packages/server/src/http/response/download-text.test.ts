import {
  type ClusterEnd,
  type ClusterRecord,
  type ClusterState,
  type DownloadRequest,
  PortholeError,
} from '@porthole/contract';
import { batchOf, EMPTY_BATCH, isBatch } from '@porthole/records';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { downloadText } from './download-text.ts';

const OK = { outcome: 'ok', detail: null, elapsedMs: 0, asOfMs: null } as const;
const MEMBERSHIP = { kind: 'alone', state: 'ok', detail: null, asOfMs: 0 } as const;
const OPTIONS = { signal: new AbortController().signal, maxRecords: 7, budgetMs: 1000 };

const record = (node: string, file: string, atMs: number, offset: number): ClusterRecord => ({
  ...{ type: 'record', node, file, offset, bytes: 1, cursor: `${file}${offset}`, atMs, timeMs: atMs },
  ...{ message: `${atMs}`, raw: `${file} ${atMs} ${offset}` },
});

interface FakeOptions {
  problems?: { node: string; file: string; code: string; detail: string }[];
  outcome?: 'ok' | 'timeout';
  failAfter?: number;
}

/** Logs by their file, in pages of the requested length; a cursor is the number of records returned so far. */
function fakeCluster(logs: Readonly<Record<string, readonly ClusterRecord[]>>, given: FakeOptions = {}) {
  const { problems, outcome = 'ok', failAfter = Infinity } = given;
  let asked = 0;
  const search: ClusterState['search'] = async function* ({ src, limit, start }) {
    if (asked++ >= failAfter) throw new PortholeError('CURSOR_GONE', 'it was rotated away');
    const names = src ?? Object.keys(logs);
    const all = names.flatMap((name) => logs[name] ?? []).toSorted((a, b) => (a.atMs ?? 0) - (b.atMs ?? 0));
    const from = start && 'cursor' in start ? Number(start.cursor) : 0;
    const records = all.slice(from, from + limit);
    yield EMPTY_BATCH;
    if (records.length > 0) yield batchOf(records);
    const cursor = from + limit < all.length ? String(from + limit) : null;
    const end: ClusterEnd = {
      ...{ type: 'end', reason: 'exhausted', records: records.length, scannedBytes: 0, skippedBytes: 0, elapsedMs: 0 },
      ...{ members: [{ ...OK, id: 'n', outcome, count: records.length }], membership: MEMBERSHIP, cursor },
      ...{ coveredFromMs: null, coveredToMs: null, problems: problems ?? [] },
    };
    yield end;
  };
  return { search };
}

async function download(cluster: Pick<ClusterState, 'search'>, request: Partial<DownloadRequest> = {}) {
  let text = '';
  for await (const piece of downloadText(cluster, { selection: {}, filter: {}, withNode: false, ...request }, OPTIONS))
    text += Buffer.from(piece).toString();
  const lines = text.split('\n').slice(0, -1);
  return { lines: lines.slice(0, -1), last: lines.at(-1) };
}

describe('a download', () => {
  it('loses nothing of a search that has records at once', async () => {
    const { search } = fakeCluster({ 'a.log': [record('n', 'a.log', 1, 0), record('n', 'a.log', 2, 1)] });
    const hasty: ClusterState['search'] = async function* (...asked) {
      for await (const item of search(...asked)) if (!isBatch(item) || item.ends.length > 0) yield item;
    };
    expect((await download({ search: hasty })).lines).toHaveLength(2);
  });

  it('has every record of its logs once, in the order of time, however many there are', async () => {
    const times = fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(times, times, async (a, b) => {
        const logs = {
          a: a.toSorted((x, y) => x - y).map((atMs, offset) => record('n', 'a', atMs, offset)),
          b: b.toSorted((x, y) => x - y).map((atMs, offset) => record('n', 'b', atMs, offset)),
        };
        const { lines, last } = await download(fakeCluster(logs), { selection: { src: ['a', 'b'] } });
        const wanted = Object.values(logs).flat();
        expect(lines.toSorted()).toEqual(wanted.map(({ raw }) => raw).toSorted());
        const emitted = lines.map((line) => Number(line.split(' ')[1]));
        expect(emitted).toEqual(emitted.toSorted((x, y) => x - y));
        expect(last).toBe(`# porthole: complete · ${wanted.length} records · 1 nodes`);
      }),
      { seed: 18, numRuns: runs(30) },
    );
  });

  const LOGS = { a: [record('n', 'a', 1, 0), record('n', 'a', 2, 1)] };

  it('prefixes each record with its node on request', async () => {
    expect((await download(fakeCluster(LOGS), { withNode: true })).lines).toEqual(['n:a 1 0', 'n:a 2 1']);
  });

  it('is incomplete where a node did not respond, or a file could not be read', async () => {
    expect((await download(fakeCluster(LOGS, { outcome: 'timeout' }))).last).toMatch(
      /^# porthole: INCOMPLETE · .*n: timed out/,
    );
    const unread = { node: 'n', file: 'b', code: 'LOG_FILE_UNREADABLE', detail: 'no\npermission' };
    expect((await download(fakeCluster(LOGS, { problems: [unread] }))).last).toMatch(
      /INCOMPLETE · .*n: b: LOG_FILE_UNREADABLE: no permission$/,
    );
  });

  it('names the files that take part only by name, and is complete without them', async () => {
    const leftOut = { node: 'n', file: 'core', code: 'LEFT_OUT', detail: 'binary' };
    expect((await download(fakeCluster(LOGS, { problems: [leftOut] }))).last).toMatch(
      /^# porthole: complete .*core on n$/,
    );
  });

  it('that fails midway ends with a line that says so; one that fails at once is refused', async () => {
    const many = { a: Array.from({ length: 20 }, (_, at) => record('n', 'a', at, at)) };
    const { lines, last } = await download(fakeCluster(many, { failAfter: 2 }));
    expect(lines).toHaveLength(14);
    expect(last).toBe('# porthole: INCOMPLETE · 14 records · 1 nodes · CURSOR_GONE: it was rotated away');
    await expect(download(fakeCluster(many, { failAfter: 0 }))).rejects.toMatchObject({ code: 'CURSOR_GONE' });
  });
});
