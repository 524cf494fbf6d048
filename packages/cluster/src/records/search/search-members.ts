import { type MemberClock, type MemberReport, type MemberSelection, PortholeError } from '@porthole/contract';
import type { SearchQuery } from '@porthole/logs/types';
import { type ChosenMember, chooseMembers } from '../../state/choose-members.ts';
import type { MemberSnapshot } from '../../state/snapshots/member-snapshot.ts';
import { departedReport } from '../../state/state-deps.ts';
import { type ClusterDeps, getChosenClock, getLimits } from '../cluster-deps.ts';
import { toMemberSearch } from '../member-query.ts';
import { type LaneOptions, MemberLane } from '../merge/member-lane.ts';
import { type ClusterPosition, decodeClusterCursor, type MemberPosition } from './cluster-cursor.ts';
import { openOrSnapshot } from './open-or-snapshot.ts';
import type { QueriedMember } from './resume-position.ts';
import { searchSnapshot } from './search-snapshot.ts';
import { deliveredBefore, isSnapshotPosition } from './snapshot-position.ts';

/** Of the time a member is waited for, what it may look at its logs; the rest is for the way. */
const SCAN_SHARE = 0.8;

/** The longest time a timer takes; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export type ClusterSearch = SearchQuery & MemberSelection;

/** Where the whole begins, and each member that it does not name. */
export interface StartPosition extends ClusterPosition {
  others: MemberPosition;
}

/** Throws for places that mean nothing to a cluster: those of a member. */
export function parseStartPosition({ order, start, until }: ClusterSearch): StartPosition {
  if (until !== undefined) throw invalid('"until" is a place in the logs of one member: ask that member');
  if (start === undefined) return { order, reachedMs: null, members: new Map(), others: 'beginning' };
  if ('timeMs' in start) {
    const { timeMs } = start;
    return { order, reachedMs: timeMs, members: new Map(), others: { timeMs } };
  }
  if (!('cursor' in start)) throw invalid('a search of the cluster begins at a time or at a cursor of the cluster');
  const position = decodeClusterCursor(start.cursor);
  if (position.order !== order)
    throw new PortholeError('CURSOR_INVALID', `this cursor goes on ${position.order} first, not ${order} first`);
  return { ...position, others: positionAtTime(position.reachedMs, order) };
}

/** Those before, or from, a time that was reached: its own millisecond is included either way. */
export function positionAtTime(timeMs: number | null, order: SearchQuery['order']): MemberPosition {
  if (timeMs === null) return 'beginning';
  return { timeMs: order === 'newest' ? timeMs + 1 : timeMs };
}

/** Those that have something to tell, and reports on those of an earlier page that have not. */
export function membersToQuery(
  deps: ClusterDeps,
  request: ClusterSearch,
  { began, budgetMs }: { began: StartPosition; budgetMs: number | undefined },
): { asked: QueriedMember[]; reports: MemberReport[] } {
  const { firstBatchMs, memberTimeoutMs } = getLimits(deps);
  const timeoutMs = Math.min(memberTimeoutMs + (budgetMs ?? 0), MAX_TIMER_MS);
  const options = { budgetMs: budgetMs ?? memberTimeoutMs * SCAN_SHARE };
  const asked: QueriedMember[] = [];
  const reports: MemberReport[] = [];
  const chosen = chooseMembers(deps, request);
  for (const member of chosen) {
    const { id } = member.member;
    const position = began.members.get(id) ?? began.others;
    if (position === 'done') {
      reports.push(member.departed ? departedReport(member.departed, 0) : unqueriedReport(deps, id, 'ok'));
      continue;
    }
    const clock = getChosenClock(deps, member);
    // A member that responds again does not know the positions in its snapshot.
    const from = isSnapshotPosition(position) && !member.departed ? began.others : position;
    const query = toMemberSearch(request, clock.offsetMs, from);
    const opened = openMember(deps, member, {
      query,
      clock,
      others: began.others,
      request,
      place: position,
      ...options,
    });
    const lane = new MemberLane({
      index: asked.length,
      id,
      clock,
      newestFirst: request.order === 'newest',
      firstBatchMs,
      timeoutMs,
      ...opened,
    });
    asked.push({ lane, peer: member, query, began: position });
  }
  const ids = new Set(chosen.map(({ member }) => member.id));
  for (const [id, position] of began.members)
    if (!ids.has(id) && position !== 'done') reports.push(unqueriedReport(deps, id, 'gone'));
  return { asked, reports };
}

interface OpenOptions {
  request: ClusterSearch;
  query: SearchQuery;
  clock: MemberClock;
  /** Where it goes on, and where to begin by time if its snapshot does not know that. */
  place: MemberPosition;
  others: MemberPosition;
  budgetMs: number;
}

/** How a member is searched: itself, or by its snapshot where it has departed or does not respond. */
function openMember(
  deps: ClusterDeps,
  chosen: ChosenMember,
  { request, query, clock, place: position, others, budgetMs }: OpenOptions,
): Pick<LaneOptions, 'open' | 'instead'> {
  return openOrSnapshot(deps, chosen, {
    search: (signal) => chosen.state.searchLogs(query, { budgetMs, signal }),
    searchSnapshot: (snapshot) => {
      const from = positionInSnapshot(snapshot, { request, place: position, others });
      return searchSnapshot(snapshot, toMemberSearch(request, clock.offsetMs, from), deps.peers.matchRegex);
    },
  });
}

/** Behind what was given of it before, by the snapshot or by the member itself; by time where that is not in it. */
function positionInSnapshot(
  snapshot: MemberSnapshot,
  { request, place: position, others }: Pick<OpenOptions, 'request' | 'place' | 'others'>,
): MemberPosition {
  if (typeof position === 'string' || 'timeMs' in position) return position;
  return deliveredBefore(snapshot, position.cursor, request.order) === undefined ? others : position;
}

function unqueriedReport({ directory }: ClusterDeps, id: string, outcome: 'ok' | 'gone'): MemberReport {
  const detail = outcome === 'gone' ? 'it was a member when the answer began, and nothing is kept of it' : null;
  const standing = outcome === 'gone' ? ({ state: 'failed', sinceMs: null } as const) : directory.standingOf(id, 'ok');
  return { id, outcome, detail, elapsedMs: 0, count: 0, asOfMs: null, ...standing };
}

function invalid(message: string): PortholeError {
  return new PortholeError('PARAMETER_INVALID', message);
}
