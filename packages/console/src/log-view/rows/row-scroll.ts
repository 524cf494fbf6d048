import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { shownIndex } from '../model/fold-rows.ts';
import type { Row, WorkspaceState } from '../model/workspace-state.ts';
import type { LogWorkspace } from '../workspace/log-workspace.ts';
import type { RowStyle } from './record-row.tsx';
import { drawnText } from './record-text.ts';

const ROW_PX = 24;

/** Of a wrapped text; a row has room above and below it. */
const LINE_PX = 20;

const ROW_SPACE_PX = ROW_PX - LINE_PX;

const CHARACTER_PX = 7.25;

/** Columns in front of the message when all of them are shown. */
const HEAD_PX = 280;

/** Narrower lists have rows of several lines, as on a phone. */
const NARROW_PX = 560;

const COLUMN_PX = 110;

/** More is loaded when fewer than this many view heights are left at an end. */
const NEAR_HEIGHTS = 1.5;

/** Repeated lines may not fill the view however many there are: after this many records, more are loaded on request. */
const ENOUGH_RECORDS = 1000;

interface RowScroll {
  box: RefObject<HTMLDivElement>;
  /** The element that contains the rendered rows, for measuring. */
  block: RefObject<HTMLDivElement>;
  tops: Tops;
  drawn: { first: number; last: number };
  seen: { first: number; last: number };
  /** Nothing more is loaded by scrolling. */
  isEnough: boolean;
  onScroll: () => void;
}

/** Scrolls the list: keeps the anchor in place, sticks to the end while live, and loads more near the ends. */
export function useRowScroll(
  workspace: LogWorkspace,
  state: WorkspaceState,
  { isWrapped, columns: fields }: Pick<RowStyle, 'isWrapped' | 'columns'>,
): RowScroll {
  const { shown: rows, expanded } = state;
  const box = useRef<HTMLDivElement>(null);
  const block = useRef<HTMLDivElement>(null);
  // Before the first measurement, render as many rows as a window could show: they are laid out once, not twice.
  const [scroller] = useState(() => new RowScroller(window.innerHeight));
  const { isMeasured } = scroller;
  const [, draw] = useState(0);
  const redraw = () => draw((count) => count + 1);
  const widthPx = useSize(box, scroller, redraw);
  // Heights are valid for one width only.
  const isNarrow = widthPx < NARROW_PX;
  const heights = useMemo(() => new Map<string, number>(), [widthPx, isWrapped, fields.length]);
  const isMeasuredRow = (row: Row) => isWrapped || isNarrow || (expanded.size > 0 && expanded.has(row.key));
  const headPx = (widthPx > 900 ? HEAD_PX : 140) + fields.length * COLUMN_PX;
  const columns = Math.max(20, (widthPx - headPx) / CHARACTER_PX);
  dropRemovedHeights(heights, rows);
  const tops = rowTops(rows, (row) => (isMeasuredRow(row) ? wrappedHeight(row, heights, columns) : ROW_PX));
  const input: ScrollInput = { ...scrollInput(state), tops };
  const scrollTop = scroller.targetScrollTop(input);
  const drawn = scroller.drawn(input, scrollTop);

  useLayoutEffect(() => {
    const element = box.current;
    // Renders again before painting, at the right position.
    if (!element || !isMeasured) return;
    const actual = element.scrollTop;
    const moved = scroller.readerMoved(actual, input, scrollTop);
    const wanted = scrollTop + moved;
    if (Math.abs(wanted - actual) >= 1) element.scrollTop = wanted;
    scroller.settle(input, wanted);
    const isOtherHeight =
      (isWrapped || isNarrow || expanded.size > 0) && measure(block.current, rows, drawn.first, heights);
    // The view differs from what was rendered, and the pending scroll event adds nothing.
    if (moved !== 0 || isOtherHeight) redraw();
  });
  useEffect(() => loadMoreNearEdges(workspace, state, scroller, tops));

  const onScroll = () => {
    const { scrollTop: top = 0, scrollHeight = 0, clientHeight = 0 } = box.current ?? {};
    if (Math.abs(top - scroller.view.scrollTop) < 1) return;
    const isUp = top < scroller.view.scrollTop;
    // A list that grew because a note above it disappeared is still at its end.
    const isAtEnd = scrollHeight - clientHeight - top < 2;
    scroller.moveTo(rows, tops, top);
    if (input.isLive && isUp && !isAtEnd) workspace.pause();
    redraw();
  };
  const seen = scroller.seen(tops, scrollTop);
  return { box, block, tops, drawn, seen, isEnough: isEnough(state, tops, scroller.view.heightPx), onScroll };
}

function scrollInput({
  shown: rows,
  generation,
  anchor,
  focusedKey,
  follow,
}: WorkspaceState): Omit<ScrollInput, 'tops'> {
  return { rows, generation, anchor, focusedKey, isLive: follow.state === 'live' || follow.state === 'reconnecting' };
}

function useSize(box: RefObject<HTMLDivElement>, scroller: RowScroller, redraw: () => void): number {
  const [widthPx, setWidth] = useState(1000);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const take = () => {
      scroller.measure(element.clientHeight);
      setWidth(element.clientWidth);
      redraw();
    };
    take();
    const observer = new ResizeObserver(take);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return widthPx;
}

/** Forgets the heights of dropped rows from time to time. */
function dropRemovedHeights(heights: Map<string, number>, rows: readonly Row[]): void {
  if (heights.size < 2 * rows.length + 1000) return;
  const currentKeys = new Set(rows.map(({ key }) => key));
  for (const key of heights.keys()) if (!currentKeys.has(key)) heights.delete(key);
}

function wrappedHeight(row: Row, heights: Map<string, number>, columns: number): number {
  if (row.kind !== 'record') return ROW_PX;
  const known = heights.get(row.key);
  if (known !== undefined) return known;
  const height = estimatedHeight(drawnText(row.record), { columns, lineHeightPx: LINE_PX }) + ROW_SPACE_PX;
  heights.set(row.key, height);
  return height;
}

/** Measures the rendered rows; returns whether a height differs from its estimate. */
function measure(
  block: HTMLElement | null,
  rows: readonly Row[],
  first: number,
  heights: Map<string, number>,
): boolean {
  let isChanged = false;
  for (const [index, element] of [...(block?.children ?? [])].entries()) {
    const row = rows[first + index];
    const height = (element as HTMLElement).offsetHeight;
    if (row?.kind !== 'record' || heights.get(row.key) === height) continue;
    heights.set(row.key, height);
    isChanged = true;
  }
  return isChanged;
}

function loadMoreNearEdges(workspace: LogWorkspace, state: WorkspaceState, scroller: RowScroller, tops: Tops): void {
  const { scrollTop, heightPx } = scroller.view;
  if (heightPx === 0 || isEnough(state, tops, heightPx)) return;
  if (state.follow.state === 'live') {
    if (scroller.maxTop(tops) === 0) workspace.loadMore('older');
    return;
  }
  const near = heightPx * NEAR_HEIGHTS;
  if (scrollTop < near && state.top.kind === 'more') workspace.loadMore('older');
  if (scroller.maxTop(tops) - scrollTop < near && state.bottom.kind === 'more') workspace.loadMore('newer');
}

/** Whether few rows stand for many records. Then both ends are near, and loading at one would drop rows at the other. */
function isEnough({ buffer }: WorkspaceState, tops: Tops, heightPx: number): boolean {
  return buffer.records >= ENOUGH_RECORDS && (tops.at(-1) ?? 0) < (2 * NEAR_HEIGHTS + 1) * heightPx;
}

/** Height of the edge lines. */
export const EDGE_PX = 24;

type ScrollInput = Pick<WorkspaceState, 'rows' | 'generation' | 'anchor' | 'focusedKey'> & {
  tops: Tops;
  isLive: boolean;
};

/** Computes the scroll position so that what the user looks at stays in place. Independent of the DOM. */
export class RowScroller {
  view: ViewPort;
  /** The height is measured, not estimated. */
  isMeasured = false;
  #anchor: ViewAnchor | null = null;
  #generation = -1;
  #focusedKey: string | null = null;

  constructor(guessedPx: number) {
    this.view = { scrollTop: 0, heightPx: guessedPx };
  }

  measure(heightPx: number): void {
    this.view = { ...this.view, heightPx };
    this.isMeasured = true;
  }

  /** The scroll position to set before these rows are rendered. */
  targetScrollTop(input: ScrollInput): number {
    const { tops } = input;
    return Math.min(this.maxTop(tops), Math.max(0, Math.round(this.#wanted(input))));
  }

  maxTop(tops: Tops): number {
    return Math.max(0, (tops.at(-1) ?? 0) + 2 * EDGE_PX - this.view.heightPx);
  }

  drawn({ tops, isLive }: ScrollInput, scrollTop: number): { first: number; last: number } {
    return drawnRows(tops, { scrollTop: scrollTop - EDGE_PX, heightPx: this.view.heightPx }, { isLive });
  }

  /** First and last visible row; -1 without rows. */
  seen(tops: Tops, scrollTop: number): { first: number; last: number } {
    const top = scrollTop - EDGE_PX;
    return { first: rowAt(tops, top), last: rowAt(tops, top + this.view.heightPx - 1) };
  }

  /**
   * How far the user has scrolled since the last rendering, without an event yet: it must not be undone. A browser also
   * moves the view when the list becomes shorter, and a jump to other rows is meant to move it. Beyond the end there is
   * only a list that became lower and was not measured yet: measured against that end, it would be moved forever.
   */
  readerMoved(actual: number, { tops, generation, isLive }: ScrollInput, scrollTop: number): number {
    if (isLive || generation !== this.#generation) return 0;
    const end = Math.max(actual, this.maxTop(tops));
    const moved = Math.round(actual - Math.min(this.view.scrollTop, end));
    return Math.abs(moved) > 1 && Math.abs(actual - scrollTop) > 1 ? moved : 0;
  }

  /** The rows are rendered and scrolled. */
  settle({ rows, tops, generation, focusedKey }: ScrollInput, scrollTop: number): void {
    this.#generation = generation;
    this.#focusedKey = focusedKey;
    this.moveTo(rows, tops, scrollTop);
  }

  /** The user scrolled. */
  moveTo(rows: readonly Row[], tops: Tops, scrollTop: number): void {
    this.view = { ...this.view, scrollTop };
    this.#anchor = this.#focusInView(rows, tops) ?? anchorAt(rows, tops, scrollTop - EDGE_PX);
  }

  /** A visible focused row is the anchor: rows inserted above do not move it. */
  #focusInView(rows: readonly Row[], tops: Tops): ViewAnchor | null {
    const index = shownIndex(rows, this.#focusedKey);
    const { scrollTop, heightPx } = this.view;
    const offsetPx = scrollTop - EDGE_PX - (tops[index] ?? 0);
    if (index < 0 || this.#focusedKey === null || offsetPx > 0 || offsetPx < -heightPx) return null;
    return { key: this.#focusedKey, offsetPx };
  }

  #wanted({ rows, tops, generation, anchor, focusedKey, isLive }: ScrollInput): number {
    if (isLive) return this.maxTop(tops);
    if (generation !== this.#generation) {
      const index = shownIndex(rows, anchor?.key ?? null);
      if (anchor && index >= 0) return this.#show(tops, index, anchor.align);
      return anchor === null ? this.maxTop(tops) : 0;
    }
    const anchorTop = this.#anchor && anchorScrollTop(rows, tops, this.#anchor);
    const scrollTop = typeof anchorTop === 'number' ? anchorTop + EDGE_PX : this.view.scrollTop;
    const index = focusedKey === this.#focusedKey ? -1 : shownIndex(rows, focusedKey);
    return index < 0 ? scrollTop : this.#follow(tops, index, scrollTop);
  }

  /** The focus moved: a step scrolls a little, a jump centres the row. */
  #follow(tops: Tops, index: number, scrollTop: number): number {
    const { heightPx } = this.view;
    const port = { scrollTop: scrollTop - EDGE_PX, heightPx };
    const near = scrollTopToShow(tops, index, { ...port, align: 'nearest' }) + EDGE_PX;
    // At the first or last row, show the edge line, too.
    if (index === 0) return Math.min(near, scrollTop, 0);
    return Math.abs(near - scrollTop) > heightPx ? this.#show(tops, index, 'center') : near;
  }

  #show(tops: Tops, index: number, align: 'top' | 'center' | 'bottom'): number {
    const { heightPx } = this.view;
    if (align === 'bottom' && index === tops.length - 2) return this.maxTop(tops);
    return scrollTopToShow(tops, index, { scrollTop: 0, heightPx, align }) + EDGE_PX;
  }
}

/* Row positions: pure functions of row heights, for fixed and wrapped rows. */

export const MAX_DRAWN_ROWS = 120;

/** Extra rows rendered beyond each visible end, so that scrolling shows no blank space. */
const OVERSCAN_ROWS = 12;

/** Top of every row; the last entry is the total height. */
type Tops = Float64Array;

/** The row at the top of the view, and how many of its pixels are above. */
interface ViewAnchor {
  key: string;
  offsetPx: number;
}

interface ViewPort {
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
export function anchorScrollTop(rows: readonly Row[], tops: Tops, anchor: ViewAnchor): number | undefined {
  const index = shownIndex(rows, anchor.key);
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
