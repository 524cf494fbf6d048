import type { Row, WorkspaceState } from '../../../log-view/model/workspace-state.ts';
import { recordTime } from '../../../log-view/rows/record-text.ts';
import type { RecordKey, ShownRecord } from '../../../log-view/source/log-source.ts';
import type { LogsView } from '../../../state/view.ts';

/** The URL of what is shown now, for sharing. */
export function toView(
  view: LogsView,
  { rows, focusedKey, follow }: Pick<WorkspaceState, 'rows' | 'focusedKey' | 'follow'>,
  seen: { first: ShownRecord | null; last: ShownRecord | null },
): LogsView {
  if (follow.state === 'live' || follow.state === 'reconnecting')
    return { ...view, isLive: true, at: null, timeMs: null };
  const still = { ...view, isLive: false };
  const focused = seenFocus(rows, focusedKey, seen);
  if (focused) return { ...still, at: toRecordKey(focused), timeMs: null };
  if (!seen.first) return still;
  const timeMs = recordTime(seen.first);
  // A record without a timestamp is identified by itself.
  return timeMs === undefined
    ? { ...still, at: toRecordKey(seen.first), timeMs: null }
    : { ...still, at: null, timeMs };
}

export function toRecordKey({ node, cursor }: ShownRecord): RecordKey {
  return { node, cursor };
}

/** The focused record, unless it was scrolled out of view. */
function seenFocus(
  rows: readonly Row[],
  focusedKey: string | null,
  { first, last }: { first: ShownRecord | null; last: ShownRecord | null },
): ShownRecord | undefined {
  const index = focusedKey === null ? -1 : rows.findIndex(({ key }) => key === focusedKey);
  const row = rows[index];
  if (row?.kind !== 'record') return undefined;
  const indexIn = (record: ShownRecord | null) =>
    rows.findIndex((candidate) => candidate.kind === 'record' && candidate.record === record);
  return index >= indexIn(first) && (last === null || index <= indexIn(last)) ? row.record : undefined;
}
