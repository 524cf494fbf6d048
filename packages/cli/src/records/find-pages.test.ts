import { PortholeError } from '@porthole/contract';
import { createZone } from '@porthole/logs';
import type { SearchQuery } from '@porthole/logs/types';
import { describe, expect, it } from 'vitest';
import type { LogSource } from '../sources/log-source.ts';
import { type FindOptions, type Found, findPages } from './find-pages.ts';
import { Receipt } from './receipt.ts';

const RECORDS = 25_000;

/** A node with so many records that allows so many per search. */
function openNode(maxRecords: number) {
  const limits: number[] = [];
  const open = async function* ({ limit, start }: SearchQuery): AsyncGenerator<Found<number>, void, undefined> {
    limits.push(limit);
    if (limit > maxRecords) throw new PortholeError('PARAMETER_INVALID', 'too many');
    const from = start && 'cursor' in start ? Number(start.cursor) : 0;
    const count = Math.min(limit, RECORDS - from);
    const cursor = from + count < RECORDS ? String(from + count) : null;
    yield { batch: from, count };
    const end = { reason: cursor === null ? 'exhausted' : 'limit', cursor, scannedBytes: 0, skippedBytes: 0 } as const;
    yield { batch: undefined, count: 0, end: { ...end, problems: [] } as never };
  };
  return { open, limits };
}

async function find(maxRecords: number, count = Infinity) {
  const { open, limits } = openNode(maxRecords);
  const source = { selection: {}, maxRecords: 1000, zone: createZone('UTC') } as unknown as LogSource;
  const query = { order: 'oldest', before: 0, after: 0 } as const;
  const options: FindOptions = { count, signal: new AbortController().signal, receipt: new Receipt(), onMore() {} };
  const starts: number[] = [];
  for await (const batch of findPages(open, { source, query }, options)) starts.push(batch);
  return { starts, limits };
}

describe('pages of a search', () => {
  it('are larger after the first', async () => {
    expect(await find(10_000)).toEqual({
      starts: [0, 1000, 11_000, 21_000],
      limits: [1000, 10_000, 10_000, 10_000],
    });
    expect((await find(10_000, 4000)).limits).toEqual([1000, 3000]);
  });

  it('are as large as the first where the node allows no larger ones', async () => {
    const { starts, limits } = await find(5000);
    expect(starts).toEqual(Array.from({ length: 25 }, (_, page) => page * 1000));
    expect(limits).toEqual([1000, 10_000, ...Array(24).fill(1000)]);
  });

  it('that are refused for another reason fail', async () => {
    await expect(find(999)).rejects.toThrow('too many');
  });
});
