import type { MemberSelection } from '@porthole/contract';
import type { FollowQuery, LogSelection, RecordFilter, SearchQuery, StartPoint } from '@porthole/logs/types';
import { withFloor } from '../fan-out/member-floor.ts';
import type { MemberPosition } from './search/cluster-cursor.ts';

/** The query with times converted to the clock of a member. */
export function toMemberSearch(
  request: SearchQuery & MemberSelection,
  { id, offsetMs }: { id: string; offsetMs: number },
  position: MemberPosition,
): SearchQuery {
  const {
    nodes: _nodes,
    role: _role,
    labels: _labels,
    store: _store,
    floors,
    start: _start,
    until: _until,
    ...query
  } = request;
  const start = toStartPoint(position, offsetMs, query.order);
  return { ...withFloor(shiftTimes(query, offsetMs), floors, id), ...(start && { start }) };
}

export function toMemberFollow(
  {
    nodes: _nodes,
    role: _role,
    labels: _labels,
    store: _store,
    floors: _floors,
    ...query
  }: FollowQuery & MemberSelection,
  offsetMs: number,
  start: FollowQuery['start'],
): FollowQuery {
  return { ...shiftTimes(query, offsetMs), start };
}

function toStartPoint(position: MemberPosition, offsetMs: number, order: SearchQuery['order']): StartPoint | undefined {
  if (position === 'beginning' || position === 'done') return undefined;
  if ('reach' in position) {
    const timeMs = resumeTime(position, order);
    return timeMs === undefined ? undefined : { timeMs: timeMs + offsetMs };
  }
  return 'cursor' in position ? { cursor: position.cursor } : { timeMs: position.timeMs + offsetMs };
}

/** Before what was reached by the margin, but not before the start of the search. */
function resumeTime(
  { reach: { timeMs }, marginMs, startMs }: Extract<MemberPosition, { reach: unknown }>,
  order: SearchQuery['order'],
): number | undefined {
  if (timeMs === null) return startMs;
  // Newest first, the start time itself is excluded.
  if (order === 'newest') return Math.min(timeMs + marginMs + 1, startMs ?? Infinity);
  return Math.max(timeMs - marginMs, startMs ?? -Infinity);
}

function shiftTimes<T extends LogSelection & RecordFilter>(query: T, offsetMs: number): T {
  const { fromMs, toMs } = query;
  return {
    ...query,
    ...(fromMs !== undefined && { fromMs: fromMs + offsetMs }),
    ...(toMs !== undefined && { toMs: toMs + offsetMs }),
  };
}
