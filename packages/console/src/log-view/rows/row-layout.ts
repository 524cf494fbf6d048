/* Row positions: pure functions of row heights, for fixed and wrapped rows. */

/** Maximum number of rows in the DOM, whatever is loaded and however tall the window is. */
export const MAX_DRAWN_ROWS = 120;

/** Extra rows rendered beyond each visible end, so that scrolling shows no blank space. */
const OVERSCAN_ROWS = 12;

/** Top of every row; the last entry is the total height. */
export type Tops = Float64Array;

/** The row at the top of the view, and how many of its pixels are above. */
export interface ViewAnchor {
  key: string;
  offsetPx: number;
}

export interface ViewPort {
  scrollTop: number;
  heightPx: number;
}

export function rowTops<Row>(rows: readonly Row[], heightOf: (row: Row) => number): Tops {
  const tops = new Float64Array(rows.length + 1);
  let top = 0;
  let index = 0;
  for (const row of rows) {
    tops[index] = top;
    top += heightOf(row);
    index++;
  }
  tops[index] = top;
  return tops;
}

/** The row at `y`; the first or last one if outside. -1 without rows. */
export function rowAt(tops: Tops, y: number): number {
  let low = 0;
  let high = tops.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((tops[middle] ?? 0) <= y) low = middle;
    else high = middle - 1;
  }
  return high < 0 ? -1 : low;
}

/** Rows to render: `[first, last)`, with some extra unless they would be replaced at once. */
export function drawnRows(
  tops: Tops,
  { scrollTop, heightPx }: ViewPort,
  { isLive = false } = {},
): { first: number; last: number } {
  const count = tops.length - 1;
  if (count === 0) return { first: 0, last: 0 };
  const seenFirst = rowAt(tops, scrollTop);
  const seenLast = Math.min(rowAt(tops, scrollTop + heightPx) + 1, seenFirst + MAX_DRAWN_ROWS);
  const spare = Math.min(isLive ? 0 : OVERSCAN_ROWS, Math.floor((MAX_DRAWN_ROWS - (seenLast - seenFirst)) / 2));
  return { first: Math.max(0, seenFirst - spare), last: Math.min(count, seenLast + spare) };
}

export function anchorAt(rows: readonly { key: string }[], tops: Tops, scrollTop: number): ViewAnchor | null {
  const index = rowAt(tops, scrollTop);
  const row = rows[index];
  return row ? { key: row.key, offsetPx: scrollTop - (tops[index] ?? 0) } : null;
}

/** The scroll position that keeps the anchor in place; `undefined` if its row no longer exists. */
export function anchorScrollTop(rows: readonly { key: string }[], tops: Tops, anchor: ViewAnchor): number | undefined {
  const index = rows.findIndex(({ key }) => key === anchor.key);
  return index < 0 ? undefined : (tops[index] ?? 0) + anchor.offsetPx;
}

/** The scroll position that shows a row; `nearest` moves as little as possible and leaves one row of margin. */
export function scrollTopToShow(
  tops: Tops,
  index: number,
  { scrollTop, heightPx, align }: ViewPort & { align: 'top' | 'center' | 'bottom' | 'nearest' },
): number {
  const top = tops[index] ?? 0;
  const bottom = tops[index + 1] ?? top;
  const margin = Math.min(bottom - top, heightPx / 4);
  if (align === 'top') return top;
  if (align === 'bottom') return bottom - heightPx;
  if (align === 'center') return top - Math.max(0, (heightPx - (bottom - top)) / 2);
  if (top - margin < scrollTop) return Math.max(0, top - margin);
  if (bottom + margin > scrollTop + heightPx) return bottom + margin - heightPx;
  return scrollTop;
}

/** Estimated height of a wrapped text: `columns` characters fit into a line. */
export function estimatedHeight(text: string, { columns, lineHeightPx }: { columns: number; lineHeightPx: number }) {
  let lines = 0;
  let start = 0;
  for (;;) {
    const end = text.indexOf('\n', start);
    const length = (end < 0 ? text.length : end) - start;
    lines += Math.max(1, Math.ceil(length / Math.max(1, columns)));
    if (end < 0) return lines * lineHeightPx;
    start = end + 1;
  }
}
