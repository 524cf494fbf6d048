import { describe, expect, test } from 'vitest';
import type { Row } from '../model/workspace-state.ts';
import {
  anchorAt,
  anchorScrollTop,
  drawnRows,
  EDGE_PX,
  estimatedHeight,
  MAX_DRAWN_ROWS,
  RowScroller,
  rowAt,
  rowTops,
  scrollTopToShow,
} from './row-scroll.ts';

const keyedRows = (count: number, from = 0) =>
  Array.from(
    { length: count },
    (_, index): Row => ({ kind: 'event', key: `r${from + index}`, node: null, text: '', isProblem: false }),
  );
const even = (rows: readonly unknown[]) => rowTops(rows, () => 20);

describe('rows of one height', () => {
  test('a position maps to the row that covers it, or to the nearest one', () => {
    const tops = even(keyedRows(3));
    expect([-5, 0, 19, 20, 59, 60, 999].map((y) => rowAt(tops, y))).toEqual([0, 0, 0, 1, 2, 2, 2]);
  });

  test('without rows there is nothing to render', () => {
    expect(rowAt(even([]), 10)).toBe(-1);
    expect(drawnRows(even([]), { scrollTop: 0, heightPx: 600 })).toEqual({ first: 0, last: 0 });
  });

  test('visible rows are rendered with some extra', () => {
    const { first, last } = drawnRows(even(keyedRows(10_000)), { scrollTop: 4000, heightPx: 600 });
    expect(first).toBeLessThan(200);
    expect(last).toBeGreaterThan(231);
    expect(last - first).toBeLessThan(60);
  });

  test('a window of any height renders no more than the limit', () => {
    const { first, last } = drawnRows(even(keyedRows(10_000)), { scrollTop: 4000, heightPx: 9000 });
    expect(last - first).toBe(MAX_DRAWN_ROWS);
    expect(first).toBe(200);
  });
});

describe('the anchor', () => {
  test('rows inserted above do not move the anchor row', () => {
    const rows = keyedRows(100, 50);
    const anchor = anchorAt(rows, even(rows), 207);
    const more = keyedRows(150);
    expect(anchor).toEqual({ key: 'r60', offsetPx: 7 });
    expect(anchor && anchorScrollTop(more, even(more), anchor)).toBe(60 * 20 + 7);
  });

  test('rows of other heights above do not move it either', () => {
    const rows = keyedRows(4);
    const tops = rowTops(rows, ({ key }) => (key === 'r0' ? 100 : 20));
    expect(anchorScrollTop(rows, tops, { key: 'r2', offsetPx: 3 })).toBe(123);
  });

  test('an anchor whose row no longer exists is undefined', () => {
    expect(anchorScrollTop(keyedRows(2), even(keyedRows(2)), { key: 'gone', offsetPx: 0 })).toBeUndefined();
  });
});

describe('showing a row', () => {
  const tops = even(keyedRows(100));
  const view = { scrollTop: 400, heightPx: 200 };

  test.each([
    ['one that is seen stays where it is', 25, 400],
    ['one above comes to the upper edge with a row before it', 10, 180],
    ['one below comes to the lower edge with a row behind it', 50, 840],
    ['the first one is shown from the very top', 0, 0],
  ])('%s', (_, index, expected) => {
    expect(scrollTopToShow(tops, index, { ...view, align: 'nearest' })).toBe(expected);
  });

  test('aligns it to the top, the middle or the bottom', () => {
    const at = (align: 'top' | 'center' | 'bottom') => scrollTopToShow(tops, 50, { ...view, align });
    expect([at('top'), at('center'), at('bottom')]).toEqual([1000, 910, 820]);
  });
});

test('the height of a wrapped text depends on its characters and lines', () => {
  const height = (text: string) => estimatedHeight(text, { columns: 10, lineHeightPx: 20 });
  expect([height(''), height('0123456789'), height('0123456789a'), height('a\n\nb')]).toEqual([20, 20, 40, 60]);
});

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

  test('a list that became lower and was not measured yet is moved once, not forever', () => {
    const rows = makeRows(0, 500);
    const input = makeInput(rows);
    const scroller = opened(rows, 0);
    // The browser knows an end that is further down.
    const actual = scroller.maxTop(input.tops) + 69;
    const moves = Array.from({ length: 2 }, () => {
      const scrollTop = scroller.targetScrollTop(input);
      const moved = scroller.readerMoved(actual, input, scrollTop);
      scroller.settle(input, scrollTop + moved);
      return moved;
    });
    expect(moves).toEqual([actual, 0]);
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
