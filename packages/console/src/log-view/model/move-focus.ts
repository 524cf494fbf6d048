import type { Row, WorkspaceState } from './workspace-state.ts';

export interface MovedFocus {
  /** The record in focus then; `undefined` where there is none. */
  key: string | undefined;
  /** It would be beyond the rows that are loaded. */
  isPastStart: boolean;
  isPastEnd: boolean;
}

/** So many record rows further. Without a focus the first step is onto what was brought into view. */
export function moveFocus({ rows, focusedKey, anchor }: WorkspaceState, by: number): MovedFocus {
  const start = rowIndex(rows, focusedKey);
  if (start < 0) return { key: firstStep(rows, anchor?.key ?? null, by), isPastStart: false, isPastEnd: false };
  const step = by < 0 ? -1 : 1;
  let left = Math.abs(by);
  let key: string | undefined;
  let index = start + step;
  for (; left > 0 && index >= 0 && index < rows.length; index += step) {
    const row = rows[index];
    if (row?.kind !== 'record') continue;
    key = row.key;
    left--;
  }
  return { key, isPastStart: left > 0 && step < 0, isPastEnd: left > 0 && step > 0 };
}

function firstStep(rows: readonly Row[], anchorKey: string | null, by: number): string | undefined {
  const anchored = rows[rowIndex(rows, anchorKey)];
  if (anchored?.kind === 'record') return anchored.key;
  const isRecord = (row: Row) => row.kind === 'record';
  return (by < 0 ? rows.findLast(isRecord) : rows.find(isRecord))?.key;
}

function rowIndex(rows: readonly Row[], key: string | null): number {
  return key === null ? -1 : rows.findIndex((row) => row.key === key);
}
