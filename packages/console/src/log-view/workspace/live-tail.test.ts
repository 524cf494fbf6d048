import { describe, expect, it } from 'vitest';
import { recordRow } from '../model/row-buffer.ts';
import { fakeRecord } from '../testing/fake-source.ts';
import { recordNumbers, upTo } from '../testing/open-workspace.ts';
import { MAX_HELD, PendingRows } from './live-tail.ts';

const makeRows = (first: number, last: number) => upTo(first, last).map((number) => recordRow(fakeRecord(number)));

describe('rows held while paused', () => {
  it('are all rows while there are few', () => {
    const held = new PendingRows();
    held.add(makeRows(0, 9));
    expect(held.take()).toMatchObject({ dropped: 0, first: { cursor: 'c0' } });
    expect(held.take()).toEqual({ rows: [], dropped: 0, first: undefined });
  });

  it('are the newest rows and the number of dropped ones', () => {
    const held = new PendingRows();
    for (let first = 0; first < 10_000; first += 100) {
      held.add([
        { kind: 'event', key: `e${first}`, node: null, text: '', isProblem: false },
        ...makeRows(first, first + 99),
      ]);
    }
    const { rows, dropped, first } = held.take();
    expect(recordNumbers(rows)).toEqual(upTo(10_000 - MAX_HELD, 9999));
    expect({ dropped, first }).toMatchObject({ dropped: 8000, first: { cursor: 'c8000' } });
  });
});
