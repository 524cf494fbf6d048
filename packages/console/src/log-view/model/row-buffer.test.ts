import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fakeRecord } from '../testing/fake-source.ts';
import { recordNumbers, upTo } from '../testing/open-workspace.ts';
import { HARD_MAX_RECORDS, MAX_RECORDS, RowBuffer, recordRow } from './row-buffer.ts';
import type { Row } from './workspace-state.ts';

const makeRows = (numbers: readonly number[]) => numbers.map((number) => recordRow(fakeRecord(number)));
const hold = (rows: readonly Row[]) => RowBuffer.EMPTY.append(rows);
const event = (name: string): Row => ({ kind: 'event', key: name, node: null, text: name, isProblem: false });

describe('a row buffer', () => {
  it('rejects duplicate records at both ends', () => {
    const buffer = hold(makeRows([5, 6, 7, 7]));
    expect(buffer.records).toBe(3);
    const grown = buffer.append(makeRows([6, 7, 8])).prepend(makeRows([3, 4, 5]));
    expect(recordNumbers(grown.rows)).toEqual([3, 4, 5, 6, 7, 8]);
    expect(grown.records).toBe(6);
  });

  it('stays as it is: changes create another one', () => {
    const buffer = hold(makeRows([1]));
    expect(buffer.append(makeRows([2])).rows).toHaveLength(2);
    expect(buffer.rows).toHaveLength(1);
    expect(buffer.append(makeRows([1]))).toBe(buffer);
  });

  it('drops rows at the end', () => {
    const buffer = hold(makeRows(upTo(0, MAX_RECORDS + 4)));
    expect(buffer.trim('newer', null).last).toMatchObject({ cursor: `c${MAX_RECORDS - 1}` });
  });

  it('replaces a partial line by the complete one', () => {
    const whole = fakeRecord(1);
    const beginning = recordRow({ ...whole, cursor: 'c1-short', message: 'rec', unfinished: true });
    const buffer = hold([beginning, event('e')]).append([recordRow(whole)]);
    expect(buffer.rows).toMatchObject([{ record: { message: 'record 1' } }, { kind: 'event' }]);
    expect(buffer.records).toBe(1);
    expect(buffer.has('n1 c1-short')).toBe(false);
  });

  it('replaces a partial line within one batch', () => {
    const whole = fakeRecord(1);
    const beginning = { ...whole, cursor: 'c1-short', message: 'rec', unfinished: true } as const;
    const buffer = hold([recordRow(beginning), recordRow(beginning), recordRow(whole), recordRow(whole)]);
    expect(buffer.append([recordRow(whole)]).rows).toMatchObject([{ record: { message: 'record 1' } }]);
  });

  it('always holds a contiguous part of the log', () => {
    const step = fc.record({ isOlder: fc.boolean(), count: fc.integer({ min: 1, max: 900 }), again: fc.nat(50) });
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 30 }),
        fc.option(fc.integer({ min: 40_000, max: 40_010 })),
        (steps, kept) => {
          let [first, last] = [40_000, 40_010];
          let buffer = hold(makeRows(upTo(first, last)));
          const keep = kept === null ? null : `n1 c${kept}`;
          for (const { isOlder, count, again } of steps) {
            buffer = isOlder
              ? buffer.prepend(makeRows(upTo(first - count, Math.min(last, first + again - 1)))).trim('newer', keep)
              : buffer.append(makeRows(upTo(Math.max(first, last - again + 1), last + count))).trim('older', keep);
            const numbers = recordNumbers(buffer.rows);
            [first, last] = [numbers[0] ?? 0, numbers.at(-1) ?? 0];
            expect(numbers).toEqual(upTo(first, last));
            expect(buffer.records).toBe(numbers.length);
            if (keep !== null && numbers.length < HARD_MAX_RECORDS) expect(buffer.has(keep)).toBe(true);
          }
        },
      ),
      { numRuns: runs(20) },
    );
  });
});
