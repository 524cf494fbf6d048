import type { RecordKey, ShownRecord } from '../source/log-source.ts';
import { recordKey } from '../source/record-key.ts';
import { isShown } from '../source/shown-record.ts';
import type { RowBuffer } from './row-buffer.ts';

/** The record itself where it is there; else of the two next to its place the one that is nearer in time. */
export function nearestRecord(
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
