import { useMemo, useRef } from 'preact/hooks';
import type { Row } from '../../../log-view/model/workspace-state.ts';
import { type Completion, findCompletions } from './completions.ts';
import { loadedFields } from './loaded-fields.ts';

/** What could be typed at the caret, from the loaded records. */
export function useCompletions(
  { text, caret, isOpen }: { text: string; caret: number; isOpen: boolean },
  rows: readonly Row[],
): Completion[] {
  // A query without matches must not take away what its correction needs.
  const known = useRef(rows);
  if (rows.length > 0) known.current = rows;
  return useMemo(
    () => (isOpen ? findCompletions(text, caret, { loaded: loadedFields(known.current), remote: NOTHING }) : []),
    // Rows that arrive meanwhile would move the options under the pointer.
    [text, caret, isOpen],
  );
}

const NOTHING = { fields: [], values: [] };
