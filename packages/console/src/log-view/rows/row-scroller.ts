import type { Row, WorkspaceState } from '../model/workspace-state.ts';
import {
  anchorAt,
  anchorScrollTop,
  drawnRows,
  rowAt,
  scrollTopToShow,
  type Tops,
  type ViewAnchor,
  type ViewPort,
} from './row-layout.ts';

/** Height of the edge lines. */
export const EDGE_PX = 24;

export type ScrollInput = Pick<WorkspaceState, 'rows' | 'generation' | 'anchor' | 'focusedKey'> & {
  tops: Tops;
  /** The list sticks to the end. */
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

  /** The rows to render. */
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
   * moves the view when the list becomes shorter, and a jump to other rows is meant to move it.
   */
  readerMoved(actual: number, { tops, generation, isLive }: ScrollInput, scrollTop: number): number {
    if (isLive || generation !== this.#generation) return 0;
    const moved = Math.round(actual - Math.min(this.view.scrollTop, this.maxTop(tops)));
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
    const index = this.#focusedKey === null ? -1 : rows.findIndex(({ key }) => key === this.#focusedKey);
    const { scrollTop, heightPx } = this.view;
    const offsetPx = scrollTop - EDGE_PX - (tops[index] ?? 0);
    if (index < 0 || this.#focusedKey === null || offsetPx > 0 || offsetPx < -heightPx) return null;
    return { key: this.#focusedKey, offsetPx };
  }

  #wanted({ rows, tops, generation, anchor, focusedKey, isLive }: ScrollInput): number {
    if (isLive) return this.maxTop(tops);
    if (generation !== this.#generation) {
      const index = anchor ? rows.findIndex(({ key }) => key === anchor.key) : -1;
      if (anchor && index >= 0) return this.#show(tops, index, anchor.align);
      return anchor === null ? this.maxTop(tops) : 0;
    }
    const anchorTop = this.#anchor && anchorScrollTop(rows, tops, this.#anchor);
    const scrollTop = typeof anchorTop === 'number' ? anchorTop + EDGE_PX : this.view.scrollTop;
    const index = focusedKey === this.#focusedKey ? -1 : rows.findIndex(({ key }) => key === focusedKey);
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
