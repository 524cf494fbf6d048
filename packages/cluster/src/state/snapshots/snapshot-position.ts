import type { FoundRecord } from '@porthole/logs/types';
import type { MemberSnapshot } from '../../membership/snapshots/member-snapshot.ts';

/** Prefix of snapshot positions; cursors of members never start with it. */
const MARK = '@';

/** Joins cursors into a position in several logs. */
const CURSOR_SEPARATOR = '~';

/** The position after this record; valid only for the same snapshot. */
export function positionAfter({ asOfMs, records }: MemberSnapshot, last: Pick<FoundRecord, 'file' | 'offset'>): string {
  const index = records.findIndex(({ file, offset }) => file === last.file && offset === last.offset);
  return `${MARK}${asOfMs}.${index}`;
}

/**
 * The number of records of a snapshot before the position, which may also be a record that the member itself sent last.
 * `undefined` if the snapshot does not contain it: then only the time can be used.
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

/** The earliest of several: better a repeated record than a lost one. */
function findCursorIndex(
  records: readonly FoundRecord[],
  cursor: string,
  order: 'newest' | 'oldest',
): number | undefined {
  const wanted = new Set(cursor.split(CURSOR_SEPARATOR));
  const found = [...records.keys()].filter((index) => wanted.has(records[index]?.cursor ?? ''));
  return order === 'newest' ? found[0] : found.at(-1);
}
