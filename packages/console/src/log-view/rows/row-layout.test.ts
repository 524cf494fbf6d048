import { describe, expect, test } from 'vitest';
import {
  anchorAt,
  anchorScrollTop,
  drawnRows,
  estimatedHeight,
  MAX_DRAWN_ROWS,
  rowAt,
  rowTops,
  scrollTopToShow,
} from './row-scroll.ts';

const makeRows = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => ({ key: `r${from + index}` }));
const even = (rows: readonly unknown[]) => rowTops(rows, () => 20);

describe('rows of one height', () => {
  test('a position maps to the row that covers it, or to the nearest one', () => {
    const tops = even(makeRows(3));
    expect([-5, 0, 19, 20, 59, 60, 999].map((y) => rowAt(tops, y))).toEqual([0, 0, 0, 1, 2, 2, 2]);
  });

  test('without rows there is nothing to render', () => {
    expect(rowAt(even([]), 10)).toBe(-1);
    expect(drawnRows(even([]), { scrollTop: 0, heightPx: 600 })).toEqual({ first: 0, last: 0 });
  });

  test('visible rows are rendered with some extra', () => {
    const { first, last } = drawnRows(even(makeRows(10_000)), { scrollTop: 4000, heightPx: 600 });
    expect(first).toBeLessThan(200);
    expect(last).toBeGreaterThan(231);
    expect(last - first).toBeLessThan(60);
  });

  test('a window of any height renders no more than the limit', () => {
    const { first, last } = drawnRows(even(makeRows(10_000)), { scrollTop: 4000, heightPx: 9000 });
    expect(last - first).toBe(MAX_DRAWN_ROWS);
    expect(first).toBe(200);
  });
});

describe('the anchor', () => {
  test('rows inserted above do not move the anchor row', () => {
    const rows = makeRows(100, 50);
    const anchor = anchorAt(rows, even(rows), 207);
    const more = makeRows(150);
    expect(anchor).toEqual({ key: 'r60', offsetPx: 7 });
    expect(anchor && anchorScrollTop(more, even(more), anchor)).toBe(60 * 20 + 7);
  });

  test('rows of other heights above do not move it either', () => {
    const rows = makeRows(4);
    const tops = rowTops(rows, ({ key }) => (key === 'r0' ? 100 : 20));
    expect(anchorScrollTop(rows, tops, { key: 'r2', offsetPx: 3 })).toBe(123);
  });

  test('an anchor whose row no longer exists is undefined', () => {
    expect(anchorScrollTop(makeRows(2), even(makeRows(2)), { key: 'gone', offsetPx: 0 })).toBeUndefined();
  });
});

describe('showing a row', () => {
  const tops = even(makeRows(100));
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
