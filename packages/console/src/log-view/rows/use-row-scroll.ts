import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Row, Workspace, WorkspaceState } from '../model/workspace-state.ts';
import type { RowStyle } from './record-row.tsx';
import { drawnText } from './record-text.ts';
import { estimatedHeight, rowTops, type Tops } from './row-layout.ts';
import { RowScroller, type ScrollInput } from './row-scroller.ts';

export const ROW_PX = 20;

/** Estimated width of a monospace character. */
const CHARACTER_PX = 7.25;

/** Columns in front of the message when all of them are shown. */
const HEAD_PX = 520;

/** Estimated width of a chosen column. */
const COLUMN_PX = 110;

/** More is loaded when fewer than this many view heights are left at an end. */
const NEAR_HEIGHTS = 1.5;

export interface RowScroll {
  box: RefObject<HTMLDivElement>;
  /** The element that contains the rendered rows, for measuring. */
  block: RefObject<HTMLDivElement>;
  tops: Tops;
  drawn: { first: number; last: number };
  seen: { first: number; last: number };
  onScroll: () => void;
}

/** Scrolls the list: keeps the anchor in place, sticks to the end while live, and loads more near the ends. */
export function useRowScroll(
  workspace: Workspace,
  state: WorkspaceState,
  { isWrapped, columns: fields }: Pick<RowStyle, 'isWrapped' | 'columns'>,
): RowScroll {
  const box = useRef<HTMLDivElement>(null);
  const block = useRef<HTMLDivElement>(null);
  // Before the first measurement, render as many rows as a window could show: they are laid out once, not twice.
  const [scroller] = useState(() => new RowScroller(window.innerHeight));
  const { isMeasured } = scroller;
  const [, draw] = useState(0);
  const redraw = () => draw((count) => count + 1);
  const widthPx = useSize(box, scroller, redraw);
  // Heights are valid for one width only.
  const heights = useMemo(() => new Map<string, number>(), [widthPx, isWrapped, fields.length]);
  const headPx = (widthPx > 900 ? HEAD_PX : 140) + fields.length * COLUMN_PX;
  const columns = Math.max(20, (widthPx - headPx) / CHARACTER_PX);
  dropRemovedHeights(heights, state.rows);
  const tops = rowTops(state.rows, (row) => (isWrapped ? wrappedHeight(row, heights, columns) : ROW_PX));
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
    const isOtherHeight = isWrapped && measure(block.current, state.rows, drawn.first, heights);
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
    scroller.moveTo(state.rows, tops, top);
    if (input.isLive && isUp && !isAtEnd) workspace.pause();
    redraw();
  };
  return { box, block, tops, drawn, seen: scroller.seen(tops, scrollTop), onScroll };
}

function scrollInput({ rows, generation, anchor, focusedKey, follow }: WorkspaceState): Omit<ScrollInput, 'tops'> {
  return { rows, generation, anchor, focusedKey, isLive: follow.state === 'live' || follow.state === 'reconnecting' };
}

/** The size of the list, updated when it changes. */
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
  const height = estimatedHeight(drawnText(row.record), { columns, lineHeightPx: ROW_PX });
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

function loadMoreNearEdges(workspace: Workspace, state: WorkspaceState, scroller: RowScroller, tops: Tops): void {
  const { scrollTop, heightPx } = scroller.view;
  if (heightPx === 0 || state.follow.state === 'live') return;
  const near = heightPx * NEAR_HEIGHTS;
  if (scrollTop < near && state.top.kind === 'more') workspace.loadOlder();
  if (scroller.maxTop(tops) - scrollTop < near && state.bottom.kind === 'more') workspace.loadNewer();
}
