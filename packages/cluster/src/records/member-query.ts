import type { MemberSelection } from '@porthole/contract';
import type { FollowQuery, LogSelection, RecordFilter, SearchQuery, StartPoint } from '@porthole/logs/types';
import type { MemberPosition } from './search/cluster-cursor.ts';

/** The query with times converted to the clock of a member. */
export function toMemberSearch(
  { nodes: _nodes, role: _role, start: _start, until: _until, ...query }: SearchQuery & MemberSelection,
  offsetMs: number,
  position: MemberPosition,
): SearchQuery {
  const start = toStartPoint(position, offsetMs);
  return { ...shiftTimes(query, offsetMs), ...(start && { start }) };
}

export function toMemberFollow(
  { nodes: _nodes, role: _role, ...query }: FollowQuery & MemberSelection,
  offsetMs: number,
  start: FollowQuery['start'],
): FollowQuery {
  return { ...shiftTimes(query, offsetMs), start };
}

function toStartPoint(position: MemberPosition, offsetMs: number): StartPoint | undefined {
  if (position === 'beginning' || position === 'done') return undefined;
  return 'cursor' in position ? { cursor: position.cursor } : { timeMs: position.timeMs + offsetMs };
}

function shiftTimes<T extends LogSelection & RecordFilter>(query: T, offsetMs: number): T {
  const { fromMs, toMs } = query;
  return {
    ...query,
    ...(fromMs !== undefined && { fromMs: fromMs + offsetMs }),
    ...(toMs !== undefined && { toMs: toMs + offsetMs }),
  };
}
