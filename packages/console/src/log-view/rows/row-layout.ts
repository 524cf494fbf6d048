/* Where rows stand: pure sums over their heights, the same for rows of one height and for wrapped ones. */

/** Rows in the DOM at most, whatever is loaded and however high the window is. */
export const MAX_DRAWN_ROWS = 120;

/** Rows drawn beyond each end of what is visible, so that scrolling by wheel shows no blank. */
const OVERSCAN_ROWS = 12;

/** Upper edge of every row, and behind the last one the height of all. */
export type Tops = Float64Array;

/** Which row stands at the upper edge of the view, and how many pixels of it are above. */
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

/** The row that covers `y`; the first or last one for what lies outside. -1 without rows. */
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

/** Rows to draw: `[first, last)`; with some above and below those in view, unless they would be replaced at once. */
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

/** Where to scroll so that the anchor stands where it stood; `undefined` when its row is gone. */
export function anchorScrollTop(rows: readonly { key: string }[], tops: Tops, anchor: ViewAnchor): number | undefined {
  const index = rows.findIndex(({ key }) => key === anchor.key);
  return index < 0 ? undefined : (tops[index] ?? 0) + anchor.offsetPx;
}

/** Where to scroll so that a row is seen; `nearest` moves no more than needed and leaves a row's height around it. */
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

/** Height of a wrapped text before it was drawn: `columns` characters fit into a line. */
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
