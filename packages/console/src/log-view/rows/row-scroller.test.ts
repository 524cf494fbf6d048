import { describe, expect, test } from 'vitest';
import type { Row } from '../model/workspace-state.ts';
import { EDGE_PX, RowScroller, rowTops } from './row-scroll.ts';

const makeRows = (from: number, to: number): Row[] =>
  Array.from({ length: to - from }, (_, index) => ({
    kind: 'event',
    key: `r${from + index}`,
    node: null,
    text: '',
    isProblem: false,
  }));

const makeInput = (rows: readonly Row[], more: Partial<Parameters<RowScroller['targetScrollTop']>[0]> = {}) => ({
  rows,
  tops: rowTops(rows, () => 20),
  generation: 1,
  anchor: null,
  focusedKey: null,
  isLive: false,
  ...more,
});

function opened(rows: readonly Row[], scrollTop: number): RowScroller {
  const scroller = new RowScroller(400);
  scroller.measure(400);
  scroller.settle(makeInput(rows), scrollTop);
  return scroller;
}

describe('the scroll position', () => {
  test('new rows without an anchor are shown at their end', () => {
    const scroller = opened(makeRows(0, 10), 0);
    const input = makeInput(makeRows(0, 100), { generation: 2 });
    expect(scroller.targetScrollTop(input)).toBe(100 * 20 + 2 * EDGE_PX - 400);
  });

  test('new rows are shown at their anchor', () => {
    const scroller = opened(makeRows(0, 10), 0);
    const anchor = { key: 'r50', align: 'center' } as const;
    expect(scroller.targetScrollTop(makeInput(makeRows(0, 100), { generation: 2, anchor }))).toBe(
      50 * 20 - 190 + EDGE_PX,
    );
  });

  test('sticks to the end while following', () => {
    const scroller = opened(makeRows(0, 100), 0);
    const input = makeInput(makeRows(20, 140), { isLive: true });
    expect(scroller.targetScrollTop(input)).toBe(scroller.maxTop(input.tops));
  });

  test('rows inserted or dropped above do not move the anchor', () => {
    const scroller = opened(makeRows(100, 200), 307);
    expect(scroller.targetScrollTop(makeInput(makeRows(0, 200)))).toBe(307 + 100 * 20);
    expect(scroller.targetScrollTop(makeInput(makeRows(105, 200)))).toBe(307 - 5 * 20);
  });

  test('the user has moved the view, unless a shorter list or a jump did', () => {
    const scroller = opened(makeRows(0, 500), 5000);
    expect(scroller.readerMoved(5300, makeInput(makeRows(0, 500)), 5000)).toBe(300);
    // The anchor of a list that lost its first 400 rows is at its start; the browser has moved the view to its end.
    const shorter = makeInput(makeRows(400, 500));
    const end = scroller.maxTop(shorter.tops);
    expect(scroller.readerMoved(end, shorter, 0)).toBe(0);
    expect(scroller.readerMoved(end - 100, shorter, 0)).toBe(-100);
    const anchor = { key: 'r450', align: 'center' } as const;
    const jump = makeInput(makeRows(400, 500), { generation: 2, anchor });
    expect(scroller.readerMoved(end - 300, jump, scroller.targetScrollTop(jump))).toBe(0);
  });

  test('scrolling sets a new anchor', () => {
    const rows = makeRows(100, 200);
    const scroller = opened(rows, 307);
    scroller.moveTo(rows, makeInput(rows).tops, 500);
    expect(scroller.targetScrollTop(makeInput(makeRows(90, 200)))).toBe(700);
  });

  test('a step of the focus scrolls as little as needed, a jump centres it', () => {
    const rows = makeRows(0, 500);
    const scroller = opened(rows, 1024);
    expect(scroller.targetScrollTop(makeInput(rows, { focusedKey: 'r60' }))).toBe(1024);
    expect(scroller.targetScrollTop(makeInput(rows, { focusedKey: 'r70' }))).toBe(72 * 20 - 400 + EDGE_PX);
    expect(scroller.targetScrollTop(makeInput(rows, { focusedKey: 'r300' }))).toBe(300 * 20 - 190 + EDGE_PX);
  });

  test('an unchanged focus does not hold the view', () => {
    const rows = makeRows(0, 500);
    const scroller = opened(rows, 0);
    scroller.settle(makeInput(rows, { focusedKey: 'r3' }), 0);
    scroller.moveTo(rows, makeInput(rows).tops, 5000);
    expect(scroller.targetScrollTop(makeInput(rows, { focusedKey: 'r3' }))).toBe(5000);
  });

  test('rows inserted above the focused row do not move it', () => {
    const rows = makeRows(0, 100);
    const scroller = opened(rows, 0);
    scroller.settle(makeInput(rows, { focusedKey: 'r60' }), 1024);
    const more = [...makeRows(0, 55), ...makeRows(200, 203), ...makeRows(55, 100)];
    expect(scroller.targetScrollTop(makeInput(more, { focusedKey: 'r60' }))).toBe(1024 + 3 * 20);
  });

  test('focusing the first row shows the start of the log', () => {
    const rows = makeRows(0, 500);
    const scroller = opened(rows, 60);
    expect(scroller.targetScrollTop(makeInput(rows, { focusedKey: 'r0' }))).toBe(0);
  });

  test('stays within the rows', () => {
    const scroller = opened(makeRows(0, 100), 1500);
    expect(scroller.targetScrollTop(makeInput(makeRows(0, 5)))).toBe(0);
  });
});
