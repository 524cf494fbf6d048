import { batchOf, type RecordBatch } from '@porthole/records';
import { describe, expect, it } from 'vitest';
import type { LogSource } from '../sources/log-source.ts';
import { type Lane, mergeTexts } from './merge-sources.ts';

/** A lane of texts, each in a batch of its own. */
function textLane(texts: readonly { timeMs?: number; text: string }[], onFinish = () => {}): Lane<RecordBatch> {
  const batches = (async function* (): AsyncGenerator<RecordBatch, void, undefined> {
    for (const { timeMs, text } of texts) {
      const batch = batchOf([{ type: 'record', file: 'a.log', offset: 0, timeMs }]);
      yield { ...batch, bytes: Buffer.from(text), ends: Uint32Array.of(text.length) };
    }
  })();
  return { source: {} as LogSource, batches, finish: async () => onFinish() };
}

async function written(lanes: readonly Lane<RecordBatch>[], limit?: number) {
  const result = { text: '', count: 0, hasMore: false };
  const onMore = () => {
    result.hasMore = true;
  };
  for await (const { text, count } of mergeTexts(lanes, {
    order: 'oldest',
    onMore,
    ...(limit !== undefined && { limit }),
  })) {
    result.text += Buffer.from(text).toString();
    result.count += count;
  }
  return result;
}

describe('the texts of several sources', () => {
  it('get a newline where another source follows one without', async () => {
    const lanes = [
      textLane([{ timeMs: 1, text: 'part ' }, { text: 'of a long record' }]),
      textLane([{ timeMs: 2, text: 'last' }]),
    ];
    expect((await written(lanes)).text).toBe('part of a long record\nlast');
  });

  it('let every source report its coverage when there are enough', async () => {
    const finished: string[] = [];
    const lanes = ['a', 'b'].map((name) =>
      textLane(
        [
          { timeMs: 1, text: `${name}1\n` },
          { timeMs: 2, text: `${name}2\n` },
        ],
        () => finished.push(name),
      ),
    );
    expect(await written(lanes, 3)).toEqual({ text: 'a1\nb1\na2\n', count: 3, hasMore: true });
    expect(finished).toEqual(['a', 'b']);
  });
});
