import { type Page, recordKey, type ShownRecord } from '../source/log-source.ts';
import { isShown } from '../source/shown-record.ts';
import type { LogAction, LogState } from './log-state.ts';
import { trimAround } from './reduce-pages.ts';
import { type RowBuffer, recordRow } from './row-buffer.ts';
import type { GapRange, Row } from './workspace-state.ts';

type ActionOf<Type extends LogAction['type']> = Extract<LogAction, { type: Type }>;

type GapRow = Extract<Row, { kind: 'gap' }>;

export function updateGap(state: LogState, key: string, change: (row: GapRow) => Partial<GapRow>): LogState {
  const row = state.buffer.get(key);
  if (row?.kind !== 'gap') return state;
  return { ...state, buffer: state.buffer.replace(key, { ...row, ...change(row) }) };
}

/** Records of a gap in front of it; what is still missing stays a gap. */
export function fillGap(state: LogState, { key, page }: ActionOf<'gap-loaded'>): LogState {
  const row = state.buffer.get(key);
  if (row?.kind !== 'gap' || !row.range) return state;
  const { range } = row;
  const { records, isWhole } = recordsWithin(page, range);
  const last = records.at(-1) ?? page.records.at(-1);
  const filled = state.buffer.insertBefore(key, records.map(recordRow));
  const buffer =
    isWhole || !last
      ? filled.removeIf((other) => other.key === key)
      : filled.replace(key, {
          ...row,
          range: { ...range, after: last },
          isLoading: false,
          text: 'More records not shown',
        });
  const trimmed = trimAround({ ...state, buffer }, recordKey(last ?? range.after));
  return state.focusedKey === key ? { ...trimmed, focusedKey: null } : trimmed;
}

/** The records before the end of the gap, and whether they are complete. */
function recordsWithin(
  { records, next }: Page,
  { node, until }: GapRange,
): { records: ShownRecord[]; isWhole: boolean } {
  const own = node === null ? records : records.filter((record) => record.node === node);
  if (until === null) return { records: own, isWhole: next === null };
  const end = own.findIndex((record) => recordKey(record) === recordKey(until) || isLater(record, until));
  return end < 0 ? { records: own, isWhole: next === null } : { records: own.slice(0, end), isWhole: true };
}

/** After it by time: with merged nodes it may be between others of the same millisecond. */
function isLater(record: ShownRecord, until: NonNullable<GapRange['until']>): boolean {
  return isShown(until) && until.atMs !== undefined && record.atMs !== undefined && record.atMs > until.atMs;
}

export function openContext(state: LogState, { record, older, newer }: ActionOf<'context-loaded'>): LogState {
  return { ...state, buffer: insertAround(state.buffer, record, { older, newer }) };
}

export function closeContext(state: LogState): LogState {
  const { contextKey, focusedKey } = state;
  if (contextKey === null) return state;
  const buffer = state.buffer.removeIf((row) => row.kind === 'record' && row.isContext === true);
  // The focus may be on a context row.
  const isFocusRemoved = focusedKey !== null && !buffer.has(focusedKey);
  return { ...state, buffer, contextKey: null, focusedKey: isFocusRemoved ? contextKey : focusedKey };
}

/** Rows that are loaded already stay; the others are inserted in log order. */
function insertAround(
  start: RowBuffer,
  record: ShownRecord,
  { older, newer }: { older: readonly ShownRecord[]; newer: readonly ShownRecord[] },
): RowBuffer {
  let buffer = start;
  const after = new Set(newer.map(recordKey));
  let nextKey = recordKey(record);
  for (const candidate of older.toReversed()) {
    const key = recordKey(candidate);
    // Records of the same millisecond may be returned on both sides.
    if (after.has(key)) continue;
    if (!buffer.has(key)) buffer = buffer.insertBefore(nextKey, [contextRow(candidate)]);
    nextKey = key;
  }
  let previousKey = recordKey(record);
  for (const candidate of newer) {
    const key = recordKey(candidate);
    if (!buffer.has(key)) {
      const following = buffer.rows[buffer.rows.findIndex((row) => row.key === previousKey) + 1];
      buffer = buffer.insertBefore(following?.key ?? '', [contextRow(candidate)]);
    }
    previousKey = key;
  }
  return buffer;
}

function contextRow(record: ShownRecord): Row {
  return { ...recordRow(record), isContext: true };
}
