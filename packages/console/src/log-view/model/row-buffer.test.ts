import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fakeRecord } from '../testing/fake-source.ts';
import { recordNumbers, upTo } from '../testing/open-workspace.ts';
import { HARD_MAX_RECORDS, MAX_RECORDS, RowBuffer, recordRow } from './row-buffer.ts';
import type { Row } from './workspace-state.ts';

const makeRows = (numbers: readonly number[]) => numbers.map((number) => recordRow(fakeRecord(number)));
const event = (name: string): Row => ({ kind: 'event', key: name, node: null, text: name, isProblem: false });

describe('a row buffer', () => {
  it('rejects duplicate records at both ends', () => {
    const buffer = new RowBuffer();
    expect(buffer.append(makeRows([5, 6, 7, 7]))).toBe(3);
    expect(buffer.append(makeRows([6, 7, 8]))).toBe(1);
    expect(buffer.prepend(makeRows([3, 4, 5]))).toBe(2);
    expect(recordNumbers(buffer.rows)).toEqual([3, 4, 5, 6, 7, 8]);
  });

  it('creates a new array on every change', () => {
    const buffer = new RowBuffer();
    buffer.append(makeRows([1]));
    const { rows } = buffer;
    buffer.append(makeRows([2]));
    expect(rows).toHaveLength(1);
    expect(buffer.rows).toHaveLength(2);
  });

  it('drops excess rows at the start, with their notices', () => {
    const buffer = new RowBuffer();
    buffer.append([...makeRows(upTo(0, 9)), event('e'), ...makeRows(upTo(10, MAX_RECORDS + 9))]);
    expect(buffer.trimStart(null)).toBe(true);
    expect(buffer.rows[0]?.kind).toBe('record');
    expect(buffer.first).toMatchObject({ cursor: 'c10' });
    expect(buffer.records).toBe(MAX_RECORDS);
    expect(buffer.trimStart(null)).toBe(false);
  });

  it('drops rows at the end', () => {
    const buffer = new RowBuffer();
    buffer.append(makeRows(upTo(0, MAX_RECORDS + 4)));
    expect(buffer.trimEnd(null)).toBe(true);
    expect(buffer.last).toMatchObject({ cursor: `c${MAX_RECORDS - 1}` });
  });

  it('keeps the pinned row until it is very far away', () => {
    const buffer = new RowBuffer();
    buffer.append(makeRows(upTo(0, MAX_RECORDS + 9)));
    expect(buffer.trimStart('n1 c4')).toBe(true);
    expect(buffer.first).toMatchObject({ cursor: 'c4' });
    expect(buffer.trimStart('n1 c4')).toBe(false);
    buffer.append(makeRows(upTo(MAX_RECORDS + 10, HARD_MAX_RECORDS + 10)));
    expect(buffer.trimStart('n1 c4')).toBe(true);
    expect(buffer.records).toBe(MAX_RECORDS);
  });

  it('replaces a partial line by the complete one', () => {
    const buffer = new RowBuffer();
    const whole = fakeRecord(1);
    buffer.append([recordRow({ ...whole, cursor: 'c1-short', message: 'rec', unfinished: true }), event('e')]);
    buffer.append([recordRow(whole)]);
    expect(buffer.rows).toMatchObject([{ record: { message: 'record 1' } }, { kind: 'event' }]);
    expect(buffer.records).toBe(1);
    expect(buffer.has('n1 c1-short')).toBe(false);
  });

  it('replaces a partial line within one batch', () => {
    const buffer = new RowBuffer();
    const whole = fakeRecord(1);
    const beginning = { ...whole, cursor: 'c1-short', message: 'rec', unfinished: true } as const;
    buffer.append([recordRow(beginning), recordRow(beginning), recordRow(whole), recordRow(whole)]);
    buffer.append([recordRow(whole)]);
    expect(buffer.rows).toMatchObject([{ record: { message: 'record 1' } }]);
  });

  it('keeps notices between their rows', () => {
    const buffer = new RowBuffer();
    buffer.append([...makeRows([1]), event('a'), ...makeRows([5])]);
    buffer.insertBefore('a', makeRows([2, 3]));
    buffer.insertBefore('n1 c5', makeRows([4]));
    expect(buffer.rows.map(({ key }) => key)).toEqual(['n1 c1', 'n1 c2', 'n1 c3', 'a', 'n1 c4', 'n1 c5']);
    buffer.removeIf(({ kind }) => kind === 'event');
    expect(recordNumbers(buffer.rows)).toEqual([1, 2, 3, 4, 5]);
  });

  it('always holds a contiguous part of the log', () => {
    const step = fc.record({ isOlder: fc.boolean(), count: fc.integer({ min: 1, max: 900 }), again: fc.nat(50) });
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 30 }),
        fc.option(fc.integer({ min: 40_000, max: 40_010 })),
        (steps, kept) => {
          const buffer = new RowBuffer();
          let [first, last] = [40_000, 40_010];
          buffer.append(makeRows(upTo(first, last)));
          const keep = kept === null ? null : `n1 c${kept}`;
          for (const { isOlder, count, again } of steps) {
            if (isOlder) buffer.prepend(makeRows(upTo(first - count, Math.min(last, first + again - 1))));
            else buffer.append(makeRows(upTo(Math.max(first, last - again + 1), last + count)));
            if (isOlder) buffer.trimEnd(keep);
            else buffer.trimStart(keep);
            const numbers = recordNumbers(buffer.rows);
            [first, last] = [numbers[0] ?? 0, numbers.at(-1) ?? 0];
            expect(numbers).toEqual(upTo(first, last));
            expect(buffer.records).toBe(numbers.length);
            if (keep !== null && numbers.length < HARD_MAX_RECORDS) expect(buffer.has(keep)).toBe(true);
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});
