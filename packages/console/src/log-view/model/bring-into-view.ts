import { type RecordKey, recordKey, type ShownRecord } from '../source/log-source.ts';
import { isShown } from '../source/shown-record.ts';
import type { RowBuffer } from './row-buffer.ts';
import type { Row, WorkspaceState } from './workspace-state.ts';

export interface ShowOptions {
  align: 'top' | 'center' | 'bottom';
  /** The record to bring into view, or the nearest one; otherwise the first one after the position. */
  near?: RecordKey;
  /** Also focuses it. */
  isFocused?: boolean;
}

interface ViewTarget {
  options: ShowOptions;
  /** The first record after the position; `undefined` if there is none. */
  firstNewer: ShownRecord | undefined;
  generation: number;
}

interface MovedFocus {
  /** The newly focused record; `undefined` if there is none. */
  key: string | undefined;
  /** The target is beyond the loaded rows. */
  isPastStart: boolean;
  isPastEnd: boolean;
}

/** Where the list scrolls to when rows are replaced. */
export function bringIntoView(
  buffer: RowBuffer,
  { options, firstNewer, generation }: ViewTarget,
): Partial<WorkspaceState> {
  const { align, near, isFocused = false } = options;
  const record = near
    ? nearestRecord(near, buffer, firstNewer)
    : align === 'bottom'
      ? buffer.last
      : (firstNewer ?? buffer.last);
  if (record === undefined) return { generation, anchor: null };
  const key = recordKey(record);
  // Nothing comes after the position: show the end.
  const isBehindAll = !near && align === 'top' && firstNewer === undefined;
  return {
    generation,
    anchor: { key, align: isBehindAll ? 'bottom' : align },
    ...(isFocused && { focusedKey: key }),
  };
}

/** The record itself if it is loaded; otherwise its neighbour that is closer in time. */
function nearestRecord(
  key: RecordKey,
  { rows, last }: Pick<RowBuffer, 'rows' | 'last'>,
  firstNewer: ShownRecord | undefined,
): ShownRecord | undefined {
  const wanted = recordKey(key);
  const itself = rows.find((row) => row.key === wanted);
  if (itself?.kind === 'record') return itself.record;
  if (!firstNewer) return last;
  const index = rows.findIndex((row) => row.key === recordKey(firstNewer));
  const before = rows.slice(0, Math.max(0, index)).findLast((row) => row.kind === 'record')?.record;
  const atMs = isShown(key) ? key.atMs : undefined;
  if (before?.atMs === undefined || firstNewer.atMs === undefined || atMs === undefined) return firstNewer;
  return atMs - before.atMs < firstNewer.atMs - atMs ? before : firstNewer;
}

/** Moves by this many records. Without a focus, the first step goes to the record that was brought into view. */
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
