import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Row, Workspace } from '../model/workspace-state.ts';
import { rowLine } from './record-text.ts';

const ROW_ID = 'row-';

/** From the row where the selection began to the current one, in either order. */
interface RowSelection {
  fromKey: string;
  toKey: string;
}

/** Element ids have no spaces; keys have no `~`. */
export function rowId(key: string): string {
  return ROW_ID + key.replaceAll(' ', '~');
}

/** The row that contains a DOM node. */
export function rowKeyAt(node: Node | null): string | null {
  const element = node instanceof Element ? node : node?.parentElement;
  const row = element?.closest(`[id^="${ROW_ID}"]`);
  return row ? row.id.slice(ROW_ID.length).replaceAll('~', ' ') : null;
}

/** Selecting text pauses following; copied text comes from the records, also for rows no longer rendered. */
export function useRowSelection(box: RefObject<HTMLElement>, workspace: Workspace, withNode: boolean): void {
  const range = useRef<RowSelection | null>(null);
  /** The row of the pointer down: if it was scrolled away, the browser's selection starts elsewhere. */
  const began = useRef<string | null>(null);
  useEffect(() => {
    const list = box.current;
    let isDragging = false;
    const changed = () => {
      const selection = document.getSelection();
      if (!selection || selection.isCollapsed || !box.current?.contains(selection.anchorNode)) {
        if (!isDragging) range.current = null;
        return;
      }
      if (workspace.state.follow.state === 'live') workspace.pause();
      // A row that was scrolled away is not in the DOM, but its key is known.
      const fromKey = began.current ?? rowKeyAt(selection.anchorNode) ?? range.current?.fromKey;
      const toKey = rowKeyAt(selection.focusNode) ?? range.current?.toKey;
      range.current = fromKey && toKey ? { fromKey, toKey } : null;
    };
    const copy = (event: ClipboardEvent) => {
      const text = range.current && selectedText(workspace.state.rows, range.current, { withNode });
      if (!text) return;
      event.clipboardData?.setData('text/plain', text);
      event.preventDefault();
    };
    const press = (event: PointerEvent) => {
      isDragging = true;
      // Shift extends the previous selection.
      if (!event.shiftKey) began.current = event.target instanceof Node ? rowKeyAt(event.target) : null;
    };
    const release = () => {
      isDragging = false;
    };
    const type = () => {
      began.current = null;
    };
    list?.addEventListener('pointerdown', press);
    document.addEventListener('pointerup', release);
    document.addEventListener('pointercancel', release);
    document.addEventListener('keydown', type);
    document.addEventListener('selectionchange', changed);
    document.addEventListener('copy', copy);
    return () => {
      list?.removeEventListener('pointerdown', press);
      document.removeEventListener('pointerup', release);
      document.removeEventListener('pointercancel', release);
      document.removeEventListener('keydown', type);
      document.removeEventListener('selectionchange', changed);
      document.removeEventListener('copy', copy);
    };
  }, [box, workspace, withNode]);
}

/** The selected rows as text, built from the records, not from the DOM; `null` for fewer than two. */
export function selectedText(
  rows: readonly Row[],
  { fromKey, toKey }: RowSelection,
  options: { withNode: boolean },
): string | null {
  const from = rows.findIndex(({ key }) => key === fromKey);
  const to = rows.findIndex(({ key }) => key === toKey);
  if (from < 0 || to < 0 || from === to) return null;
  return rows
    .slice(Math.min(from, to), Math.max(from, to) + 1)
    .map((row) => rowLine(row, options))
    .join('\n');
}
