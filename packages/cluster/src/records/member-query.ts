import type { MemberSelection } from '@porthole/contract';
import type { FollowQuery, LogSelection, RecordFilter, SearchQuery, StartPoint } from '@porthole/logs/types';
import type { MemberPlace } from './cluster-cursor.ts';

/** The question as a member with such a clock understands it. */
export function memberSearch(
  { nodes: _nodes, role: _role, start: _start, until: _until, ...query }: SearchQuery & MemberSelection,
  offsetMs: number,
  place: MemberPlace,
): SearchQuery {
  const start = startOf(place, offsetMs);
  return { ...shifted(query, offsetMs), ...(start && { start }) };
}

export function memberFollow(
  { nodes: _nodes, role: _role, ...query }: FollowQuery & MemberSelection,
  offsetMs: number,
  start: FollowQuery['start'],
): FollowQuery {
  return { ...shifted(query, offsetMs), start };
}

function startOf(place: MemberPlace, offsetMs: number): StartPoint | undefined {
  if (place === 'beginning' || place === 'done') return undefined;
  return 'cursor' in place ? { cursor: place.cursor } : { timeMs: place.timeMs + offsetMs };
}

function shifted<T extends LogSelection & RecordFilter>(query: T, offsetMs: number): T {
  const { fromMs, toMs } = query;
  return {
    ...query,
    ...(fromMs !== undefined && { fromMs: fromMs + offsetMs }),
    ...(toMs !== undefined && { toMs: toMs + offsetMs }),
  };
}
