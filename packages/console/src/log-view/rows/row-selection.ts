import type { Row } from '../model/workspace-state.ts';
import { rowLine } from './record-text.ts';

/** From the row where selecting began to the one where it is now, in either order. */
export interface RowSelection {
  fromKey: string;
  toKey: string;
}

/** The selected rows as text, made from what they are and not from what is drawn of them; `null` for less than two. */
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
