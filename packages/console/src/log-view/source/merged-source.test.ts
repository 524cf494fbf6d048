import { type Client, PortholeError } from '@porthole/client';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeSource, fakeRecord, recordNumber } from '../testing/fake-source.ts';
import type { FieldsResult, LogSource, PageRequest, TopResult } from './log-source.ts';
import { MergedSource, mergePages, mergeStreams, mergeTops, type PageStart, parsePositions } from './merged-source.ts';

async function* collect(batches: string[][], end?: Error): AsyncGenerator<string[], void, undefined> {
  for (const batch of batches) yield batch;
  if (end) throw end;
}

async function* open(signal: AbortSignal): AsyncGenerator<string[], void, undefined> {
  yield [];
  if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
}

const { signal } = new AbortController();

async function read(streams: AsyncIterable<string[]>): Promise<string[][]> {
  const all: string[][] = [];
  for await (const batch of streams) all.push(batch);
  return all;
}

describe('several streams as one', () => {
  it('emit nothing before all have begun, and lose nothing', async () => {
    const all = await read(
      mergeStreams(() => [collect([[], ['a1'], ['a2']]), collect([[], ['b1']]), collect([[]])], { signal }),
    );
    expect(all.flat().toSorted()).toEqual(['a1', 'a2', 'b1']);
    expect(all.flat().indexOf('a1')).toBeLessThan(all.flat().indexOf('a2'));
  });

  it('fail when one fails, and close the others', async () => {
    const signals: AbortSignal[] = [];
    const merged = mergeStreams(
      (leaving) => {
        signals.push(leaving);
        return [open(leaving), collect([[]], new Error('it broke'))];
      },
      { signal },
    );
    await expect(read(merged)).rejects.toThrow('it broke');
    expect(signals[0]?.aborted).toBe(true);
  });

  it('end with the signal', async () => {
    const leaving = new AbortController();
    const merged = mergeStreams((both) => [open(both), open(both)], { signal: leaving.signal });
    for await (const batch of merged) {
      expect(batch).toEqual([]);
      leaving.abort();
    }
  });
});

const OLDER: PageRequest = { direction: 'older', from: 'end', limit: 20, filter: {} };

const failing = (error: Error): LogSource => Object.assign(new FakeSource(0), { page: () => Promise.reject(error) });

async function readAll(sources: readonly LogSource[], request: PageRequest): Promise<number[]> {
  let parts: PageStart[] = sources.map((source) => ({ source, from: request.from }));
  const all: number[] = [];
  for (;;) {
    const { records, next } = await mergePages(parts, request, {});
    const numbers = records.map(recordNumber);
    if (request.direction === 'older') all.unshift(...numbers);
    else all.push(...numbers);
    if (next === null) return all;
    const places = parsePositions(next, sources.length);
    parts = sources.map((source, index) => ({ source, from: places[index] ?? null }));
  }
}

describe('pages of several logs', () => {
  it.each([OLDER, { ...OLDER, direction: 'newer', from: 'start' } as const])(
    'have every record in order, however slowly one of them looks ($direction)',
    async (request) => {
      const slow = new FakeSource(100);
      slow.scanRecords = 7;
      const numbers = await readAll([new FakeSource(130), slow], request);
      const expected = Array.from({ length: 130 }, (_, number) => (number < 100 ? [number, number] : [number])).flat();
      expect(numbers).toEqual(expected);
    },
  );

  it('contain no record that may come after one not loaded yet', async () => {
    const slow = new FakeSource(100);
    slow.scanRecords = 5;
    const parts = [new FakeSource(100), slow].map((source) => ({ source, from: 'end' as const }));
    const page = await mergePages(parts, { ...OLDER, limit: 50, filter: { terms: ['record 9'] } }, {});
    expect(page.records.map(recordNumber)).toEqual([95, 95, 96, 96, 97, 97, 98, 98, 99, 99]);
  });

  it('continue without a failed source, which is retried with the next page', async () => {
    const sources = [new FakeSource(50), failing(new PortholeError('UNREACHABLE', 'no connection'))];
    const page = await mergePages(
      sources.map((source) => ({ source, from: 'end' })),
      OLDER,
      {},
    );
    expect(page.records.map(recordNumber)).toEqual(Array.from({ length: 20 }, (_, index) => 30 + index));
    expect(page.members.at(-1)).toMatchObject({ outcome: 'failed', detail: 'UNREACHABLE: no connection' });
    expect(parsePositions(page.next ?? '', 2)[1]).toBe('end');
  });

  it('fail if all sources fail', async () => {
    const parts = [failing(new PortholeError('REGEX_INVALID', 'no regex'))].map((source) => ({
      source,
      from: 'end' as const,
    }));
    await expect(mergePages(parts, OLDER, {})).rejects.toMatchObject({ code: 'REGEX_INVALID' });
  });

  it('reject a position of other logs', () => {
    for (const text of ['x', '{}', '[null]'])
      expect(() => parsePositions(text, 2)).toThrow(expect.objectContaining({ code: 'CURSOR_INVALID' }));
  });

  it('do not carry the text of records in their position', async () => {
    const long = { ...fakeRecord(0), message: 'x'.repeat(10_000), raw: 'y'.repeat(10_000) };
    const source: LogSource = Object.assign(new FakeSource(0), {
      page: () =>
        Promise.resolve({
          ...{
            next: null,
            isOutOfTime: false,
            scannedBytes: 0,
            reachedMs: null,
            problems: [],
            duplicates: [],
            members: [],
          },
          records: [long, fakeRecord(1), fakeRecord(2)],
        }),
    });
    const page = await mergePages([{ source, from: 'start' }], { ...OLDER, direction: 'newer', limit: 1 }, {});
    expect(page.records).toEqual([long]);
    expect(page.next?.length).toBeLessThan(500);
  });
});

/** The counts of a log, as a node returns them. */
function topOf(values: readonly string[], limit: number): TopResult {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const all = [...counts].map(([value, count]) => ({ value, count }));
  all.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
  const listed = all.slice(0, limit);
  return {
    ...{ by: 'shard', values: listed, missing: 1, distinct: all.length, isExact: true, counted: null, members: [] },
    others: values.length - listed.reduce((sum, { count }) => sum + count, 0),
  };
}

describe('counts by value of several logs', () => {
  const logs = fc.array(fc.array(fc.constantFrom(...'abcdefgh')), { minLength: 1, maxLength: 4 });

  it('are those of all records where every list is complete', () => {
    fc.assert(
      fc.property(logs, fc.integer({ min: 1, max: 9 }), (parts, limit) => {
        const merged = mergeTops(
          parts.map((part) => topOf(part, 100)),
          limit,
        );
        const { members: _, ...expected } = topOf(parts.flat(), limit);
        const values = expected.values.map((value) => expect.objectContaining(value));
        expect(merged).toEqual({ ...expected, values, missing: parts.length });
      }),
      { numRuns: runs(50) },
    );
  });

  it('are otherwise between the count and the count with its error', () => {
    fc.assert(
      fc.property(logs, fc.integer({ min: 1, max: 3 }), (parts, limit) => {
        const merged = mergeTops(
          parts.map((part) => topOf(part, limit)),
          10,
        );
        const all = parts.flat();
        for (const { value, count, error = 0 } of merged.values) {
          const actual = all.filter((other) => other === value).length;
          expect(actual).toBeGreaterThanOrEqual(count);
          expect(actual).toBeLessThanOrEqual(count + error);
        }
        const sum = merged.values.reduce((total, { count }) => total + count, merged.others);
        expect(sum).toBe(all.length);
        if (merged.isExact) expect(merged.values.every(({ error }) => error === undefined)).toBe(true);
      }),
      { numRuns: runs(50) },
    );
  });
});

it('fields of several logs are listed once, with all of their records', async () => {
  const part = (records: number, name: string): FieldsResult => ({
    fields: [{ name, types: ['number'], records, distinct: 3, isDistinctExact: true, examples: ['1'] }],
    ...{ totalFields: 1, records, isSample: records > 5, counted: null, members: [] },
  });
  const parts = [part(2, 'a'), part(7, 'b'), part(6, 'a')];
  const logs = parts.map((fields) => ({ fields: async () => fields }) as Partial<LogSource> as LogSource);
  const source = new MergedSource({ nodes: [], open: async () => logs, client: {} as Client });
  const merged = await source.fields({ filter: {}, limit: 10 });
  expect(merged).toEqual({
    fields: [
      {
        name: 'a',
        types: ['number'],
        records: 8,
        distinct: 3,
        isDistinctExact: false,
        examples: ['1'],
        nodes: { 0: 2, 2: 6 },
      },
      {
        name: 'b',
        types: ['number'],
        records: 7,
        distinct: 3,
        isDistinctExact: true,
        examples: ['1'],
        nodes: { 1: 7 },
      },
    ],
    ...{ totalFields: 2, records: 15, isSample: true, counted: null, members: [] },
  });
});
