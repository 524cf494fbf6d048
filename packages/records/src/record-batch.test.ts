import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type BatchedRecord,
  batchOf,
  cursorAt,
  filterBatch,
  joinBatches,
  originAt,
  type RecordBatch,
  recordsOf,
  sliceBatch,
  toBatches,
  toItems,
  toLines,
} from './record-batch.ts';
import { runs } from './testing/runs.ts';

type Item = BatchedRecord & {
  cursor: string;
  message: string;
  context?: Record<string, unknown>;
  contextText?: string;
};

const item: fc.Arbitrary<Item> = fc
  .record(
    {
      file: fc.constantFrom('a.log', 'ü "x".log', ',"cursor":"no.log'),
      offset: fc.nat(),
      cursor: fc.constantFrom('c.1', 'a.1.2~b'),
      timeMs: fc.nat(),
      message: fc.string(),
      context: fc.dictionary(fc.constantFrom('cursor', 'a'), fc.string()),
    },
    { requiredKeys: ['file', 'offset', 'cursor', 'message'] },
  )
  .map((given) => ({ type: 'record' as const, ...given }));

/** What a batch says of its records, by its columns and by its lines. */
function shown(batch: RecordBatch) {
  const records = recordsOf<Item>(batch);
  return records.map((record, index) => {
    const columns = { ...originAt(batch, index), cursor: cursorAt(batch, index), offset: batch.offsets[index] };
    expect(record).toMatchObject(columns);
    expect(batch.times[index]).toBe(record.timeMs ?? Number.NaN);
    return record;
  });
}

describe('a batch of records', () => {
  it('has what it was made of, in part and joined, too', () => {
    fc.assert(
      fc.property(fc.array(item), fc.array(item), fc.nat(20), fc.nat(20), (first, second, from, to) => {
        const batch = joinBatches([batchOf(first), batchOf(second)]);
        const all = [...first, ...second];
        expect(shown(batch)).toEqual(all);
        const [start, end] = [Math.min(from, to, all.length), Math.min(Math.max(from, to), all.length)];
        expect(shown(sliceBatch(batch, start, end))).toEqual(all.slice(start, end));
        const isKept = (index: number) => index % 3 !== from % 3;
        expect(shown(filterBatch(batch, isKept))).toEqual(all.filter((_, index) => isKept(index)));
      }),
    );
  });

  it('writes the context of a record as in the log', () => {
    const record = {
      type: 'record',
      file: 'a',
      offset: 1,
      message: '',
      context: { a: 1 },
      contextText: '{"a":1.0}',
    } as const;
    expect(Buffer.from(batchOf([record]).bytes).toString()).toContain('"context":{"a":1.0}');
  });

  it('comes from lists and goes to lists and lines without a change', async () => {
    const records = fc.sample(item, { numRuns: runs(3), seed: 7 });
    const end = { type: 'end' as const, cursor: null };
    const lists = async function* (): AsyncGenerator<(Item | typeof end)[]> {
      yield [];
      yield records;
      yield [...records, end];
    };
    const items: unknown[] = [];
    for await (const list of toItems(toBatches(lists()))) items.push(list);
    expect(items).toEqual([[], records, records, [end]]);
    let text = '';
    for await (const piece of toLines(toBatches(lists()))) text += Buffer.from(piece).toString();
    expect(text).toBe([...records, ...records, end].map((each) => `${JSON.stringify(each)}\n`).join(''));
  });
});
