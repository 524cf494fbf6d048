import { PortholeError } from '@porthole/client';
import { describe, expect, it } from 'vitest';
import { FakeSource, fakeRecord, recordNumber } from '../testing/fake-source.ts';
import type { LogSource, PageRequest } from './log-source.ts';
import { mergePages, type PageStart, parsePositions } from './merged-source.ts';

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
