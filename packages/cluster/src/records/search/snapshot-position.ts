import type { FoundRecord } from '@porthole/logs/types';
import type { MemberSnapshot } from '../../state/snapshots/member-snapshot.ts';
import type { MemberPosition } from './cluster-cursor.ts';

/** Begins what stands for a cursor of the member; no cursor of a member begins so. */
const MARK = '@';

/** Several cursors joined by it stand for a position in several logs at once. */
const CURSOR_SEPARATOR = '~';

/** Behind this record of a snapshot; it counts only while the snapshot is the same. */
export function positionAfter({ asOfMs, records }: MemberSnapshot, last: Pick<FoundRecord, 'file' | 'offset'>): string {
  const index = records.findIndex(({ file, offset }) => file === last.file && offset === last.offset);
  return `${MARK}${asOfMs}.${index}`;
}

export function isSnapshotPosition(position: MemberPosition): boolean {
  return typeof position === 'object' && 'cursor' in position && position.cursor.startsWith(MARK);
}

/**
 * How many records of a snapshot, in this order, were given before: those up to the position, or up to a record that the
 * member itself gave last. `undefined` where the snapshot does not have it any more: then only the time is left.
 */
export function deliveredBefore(
  { asOfMs, records }: MemberSnapshot,
  cursor: string,
  order: 'newest' | 'oldest',
): number | undefined {
  const newest = cursor.startsWith(MARK) ? parseIndex(cursor, asOfMs) : findCursorIndex(records, cursor, order);
  if (newest === undefined || newest < 0 || newest >= records.length) return undefined;
  return order === 'newest' ? newest + 1 : records.length - newest;
}

function parseIndex(position: string, asOfMs: number): number | undefined {
  const [, asOf, index] = /^@(-?\d+)\.(\d+)$/.exec(position) ?? [];
  return Number(asOf) === asOfMs ? Number(index) : undefined;
}

/** Of several, the one that leaves out least: better a record twice than one lost. */
function findCursorIndex(
  records: readonly FoundRecord[],
  cursor: string,
  order: 'newest' | 'oldest',
): number | undefined {
  const wanted = new Set(cursor.split(CURSOR_SEPARATOR));
  const found = [...records.keys()].filter((index) => wanted.has(records[index]?.cursor ?? ''));
  return order === 'newest' ? found[0] : found.at(-1);
}
