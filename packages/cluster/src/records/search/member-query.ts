import { type MemberSelection, requestOf, type SelectableMember } from '@porthole/contract';
import type { FollowQuery, LogSelection, RecordFilter, SearchQuery, StartPoint } from '@porthole/logs/types';
import { type SteppedClock, toMemberEdge, toMemberRange } from '../../fan-out/clock-steps.ts';
import { withFloor } from '../../state/counts/counting.ts';
import type { MemberPosition } from './cluster-cursor.ts';

/** The query with times converted to the clock of a member. */
export function toMemberSearch(
  request: SearchQuery & MemberSelection,
  { member, clock }: { member: SelectableMember; clock: SteppedClock },
  position: MemberPosition,
): SearchQuery {
  const { start: _start, until: _until, ...query } = requestOf(member, request);
  const start = toStartPoint(position, clock, query.order);
  return { ...withFloor(shiftTimes(query, clock), request.floors, member.id), ...(start && { start }) };
}

export function toMemberFollow(
  request: FollowQuery & MemberSelection,
  { member, clock }: { member: SelectableMember; clock: SteppedClock },
  start: FollowQuery['start'],
): FollowQuery {
  return { ...shiftTimes(requestOf(member, request), clock), start };
}

function toStartPoint(
  position: MemberPosition,
  clock: SteppedClock,
  order: SearchQuery['order'],
): StartPoint | undefined {
  if (position === 'beginning' || position === 'done') return undefined;
  if ('cursor' in position) return { cursor: position.cursor };
  const timeMs = 'reach' in position ? resumeTime(position, order) : position.timeMs;
  return timeMs === undefined ? undefined : { timeMs: toMemberEdge(clock, timeMs, order === 'newest' ? 'to' : 'from') };
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

function shiftTimes<T extends LogSelection & RecordFilter>(query: T, clock: SteppedClock): T {
  return { ...query, ...toMemberRange(clock, query) };
}
