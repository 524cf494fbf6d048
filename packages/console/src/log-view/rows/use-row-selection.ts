import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Workspace } from '../model/workspace-state.ts';
import { type RowSelection, selectedText } from './row-selection.ts';

const ROW_ID = 'row-';

/** Names of elements have no blanks; keys have no `~`. */
export function rowId(key: string): string {
  return ROW_ID + key.replaceAll(' ', '~');
}

/** The row an element, or a piece of text, belongs to. */
export function rowKeyAt(node: Node | null): string | null {
  const element = node instanceof Element ? node : node?.parentElement;
  const row = element?.closest(`[id^="${ROW_ID}"]`);
  return row ? row.id.slice(ROW_ID.length).replaceAll('~', ' ') : null;
}

/** Selecting pauses, and what is copied comes from the records, also from those which are not drawn any more. */
export function useRowSelection(box: RefObject<HTMLElement>, workspace: Workspace, withNode: boolean): void {
  const range = useRef<RowSelection | null>(null);
  /** Where the pointer went down: when that row is scrolled away meanwhile, the browser begins at another. */
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
      // A row that was scrolled away is in no document; what it was is still known.
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
      // With Shift what was begun before is extended.
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
