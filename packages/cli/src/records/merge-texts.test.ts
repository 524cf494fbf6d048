import type { FoundRecord } from '@porthole/logs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LogSource } from '../sources/log-source.ts';
import { mergeRecords } from './merge-records.ts';
import { mergeTexts, type TextLane } from './merge-texts.ts';
import type { RecordTexts } from './record-texts.ts';

interface Entry {
  timeMs: number;
  text: string;
}

function toTexts(entries: readonly Entry[]): RecordTexts {
  let end = 0;
  const ends = entries.map(({ text }) => {
    end += text.length;
    return end;
  });
  return { text: Buffer.from(entries.map(({ text }) => text).join('')), ends, times: entries.map((e) => e.timeMs) };
}

function inBatches<T>(entries: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(entries.length / size) }, (_, n) => entries.slice(n * size, n * size + size));
}

function textLane(batches: readonly (readonly Entry[])[], onFinish = () => {}): TextLane {
  const give = (async function* () {
    for (const batch of batches) yield toTexts(batch);
  })();
  return { batches: give, finish: async () => onFinish() };
}

async function written(
  lanes: readonly TextLane[],
  order: 'newest' | 'oldest' = 'oldest',
  limit = Number.POSITIVE_INFINITY,
): Promise<{ text: string; count: number; hasMore: boolean }> {
  const result = { text: '', count: 0, hasMore: false };
  const onMore = () => {
    result.hasMore = true;
  };
  for await (const { text, count } of mergeTexts(lanes, { order, limit, onMore })) {
    result.text += Buffer.from(text).toString();
    result.count += count;
  }
  return result;
}

/** The same through records. */
async function slowlyWritten(batches: readonly Entry[][][], order: 'newest' | 'oldest', limit: number) {
  const lanes = batches.map((lane) => {
    const give = (async function* () {
      for (const batch of lane) yield batch.map(({ timeMs, text }) => toRecord(timeMs, text));
    })();
    return { source: {} as LogSource, batches: give, finish: async () => {} };
  });
  let text = '';
  for await (const batch of mergeRecords(lanes, { order, limit }))
    text += batch.map(({ record }) => record.message).join('');
  return text;
}

function toRecord(timeMs: number, message: string): FoundRecord {
  const time = Number.isNaN(timeMs) ? {} : { timeMs };
  return { type: 'record', file: 'a.log', offset: 0, bytes: 1, cursor: '', message, ...time };
}

const times = fc.array(fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 0, max: 20 }) }, fc.constant(Number.NaN)), {
  maxLength: 25,
});

describe('the texts of several sources', () => {
  it('are merged in the order of their records, whatever the batches', async () => {
    const lane = fc.tuple(times, fc.integer({ min: 1, max: 6 }));
    const order = fc.constantFrom('newest' as const, 'oldest' as const);
    await fc.assert(
      fc.asyncProperty(
        fc.array(lane, { maxLength: 4 }),
        order,
        fc.integer({ min: 1, max: 60 }),
        async (given, by, limit) => {
          const batches = given.map(([list, size], source) =>
            inBatches(
              list.map((timeMs, index) => ({ timeMs, text: `${source}:${index}\n` })),
              size,
            ),
          );
          const { text, count, hasMore } = await written(
            batches.map((each) => textLane(each)),
            by,
            limit,
          );
          expect(text).toBe(await slowlyWritten(batches, by, limit));
          expect(count).toBe(text.split('\n').length - 1);
          expect(count).toBeLessThanOrEqual(limit);
          // It may end before the last batch of another lane is known.
          if (hasMore) expect(count).toBe(limit);
        },
      ),
    );
  });

  it('get a newline where another source follows one without', async () => {
    const lanes = [
      textLane([[{ timeMs: 1, text: 'part ' }], [{ timeMs: Number.NaN, text: 'of a long record' }]]),
      textLane([[{ timeMs: 2, text: 'last' }]]),
    ];
    expect((await written(lanes)).text).toBe('part of a long record\nlast');
  });

  it('let every source report its coverage when there are enough', async () => {
    const finished: string[] = [];
    const lanes = ['a', 'b'].map((name) =>
      textLane([[{ timeMs: 1, text: `${name}1\n` }], [{ timeMs: 2, text: `${name}2\n` }]], () => finished.push(name)),
    );
    expect(await written(lanes, 'oldest', 3)).toEqual({ text: 'a1\nb1\na2\n', count: 3, hasMore: true });
    expect(finished).toEqual(['a', 'b']);
  });
});
