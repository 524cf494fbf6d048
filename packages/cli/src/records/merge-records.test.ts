import type { FoundRecord } from '@porthole/logs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LogSource } from '../sources/log-source.ts';
import { type Lane, mergeRecords } from './merge-records.ts';

const record = (timeMs: number | undefined, message: string): FoundRecord => ({
  type: 'record',
  file: 'a.log',
  offset: 0,
  bytes: 1,
  cursor: '',
  message,
  ...(timeMs !== undefined && { timeMs }),
});

function makeLane(name: string, batches: readonly (readonly FoundRecord[])[], onEnd = () => {}): Lane {
  async function* give() {
    try {
      for (const batch of batches) yield [...batch];
    } finally {
      onEnd();
    }
  }
  const batchesLeft = give();
  const finish = async () => {
    while (!(await batchesLeft.next()).done);
  };
  return { source: { label: name } as LogSource, batches: batchesLeft, finish };
}

async function messages(
  lanes: readonly Lane[],
  order: 'newest' | 'oldest' = 'oldest',
  limit?: number,
): Promise<string[]> {
  const merged: string[] = [];
  const options = { order, ...(limit !== undefined && { limit }) };
  for await (const batch of mergeRecords(lanes, options)) merged.push(...batch.map((each) => each.record.message));
  return merged;
}

describe('records of several sources', () => {
  it('come as one, by time', async () => {
    const lanes = [
      makeLane('a', [[record(1, 'a1'), record(4, 'a4')]]),
      makeLane('b', [[record(2, 'b2')], [record(3, 'b3')]]),
    ];
    expect(await messages(lanes)).toEqual(['a1', 'b2', 'b3', 'a4']);
  });

  it('newest first if requested', async () => {
    const lanes = [makeLane('a', [[record(4, 'a4'), record(1, 'a1')]]), makeLane('b', [[record(3, 'b3')]])];
    expect(await messages(lanes, 'newest')).toEqual(['a4', 'b3', 'a1']);
  });

  it('one without a time stays behind the one before it', async () => {
    const lanes = [
      makeLane('a', [[record(1, 'a1'), record(undefined, 'a-'), record(5, 'a5')]]),
      makeLane('b', [[record(3, 'b3')]]),
    ];
    expect(await messages(lanes)).toEqual(['a1', 'a-', 'b3', 'a5']);
  });

  it('each source keeps its own order and gives everything once', async () => {
    const times = fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 30 });
    const batched = fc.tuple(times, fc.integer({ min: 1, max: 5 }));
    await fc.assert(
      fc.asyncProperty(fc.array(batched, { maxLength: 4 }), async (sources) => {
        const all: { timeMs: number; message: string }[] = [];
        const lanes = sources.map(([given, size], source) => {
          const records = given.toSorted((a, b) => a - b).map((timeMs, index) => record(timeMs, `${source}:${index}`));
          all.push(...records.map(({ timeMs = 0, message }) => ({ timeMs, message })));
          const batches = Array.from({ length: Math.ceil(records.length / size) }, (_, n) =>
            records.slice(n * size, n * size + size),
          );
          return makeLane(String(source), batches);
        });
        // A stable sort by time keeps sources in their order, which is what the merge does with equal times.
        const expected = all.toSorted((a, b) => a.timeMs - b.timeMs).map(({ message }) => message);
        expect(await messages(lanes)).toEqual(expected);
      }),
    );
  });

  it('a limit is exact, and every lane is still read to its closing record', async () => {
    const finished: string[] = [];
    const lanes = ['a', 'b'].map((name) => {
      const lane = makeLane(name, [[record(1, `${name}1`)], [record(2, `${name}2`)], []]);
      return { ...lane, finish: () => lane.finish().then(() => void finished.push(name)) };
    });
    expect(await messages(lanes, 'oldest', 3)).toEqual(['a1', 'b1', 'a2']);
    expect(finished).toEqual(['a', 'b']);
  });

  it('are all ended when their reader leaves', async () => {
    const ended: string[] = [];
    const lanes = ['a', 'b'].map((name) =>
      makeLane(name, [[record(1, name)], [record(2, name)]], () => ended.push(name)),
    );
    for await (const batch of mergeRecords(lanes, { order: 'oldest' })) if (batch.length > 0) break;
    expect(ended).toEqual(['a', 'b']);
  });
});
