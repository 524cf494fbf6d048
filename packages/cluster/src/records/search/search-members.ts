import { type MemberClock, type MemberReport, type MemberSelection, PortholeError } from '@porthole/contract';
import type { SearchQuery } from '@porthole/logs/types';
import { type ChosenMember, chooseMembers } from '../../state/choose-members.ts';
import type { MemberSnapshot } from '../../state/snapshots/member-snapshot.ts';
import { departedReport } from '../../state/state-deps.ts';
import { type ClusterDeps, getChosenClock, getLimits } from '../cluster-deps.ts';
import { toMemberSearch } from '../member-query.ts';
import { type LaneOptions, MemberLane } from '../merge/member-lane.ts';
import { lineItems } from '../merge/record-lines.ts';
import { type ClusterPosition, decodeClusterCursor, type MemberPosition } from './cluster-cursor.ts';
import { openOrSnapshot } from './open-or-snapshot.ts';
import type { QueriedMember } from './resume-position.ts';
import { searchSnapshot } from './search-snapshot.ts';
import { deliveredBefore, isSnapshotPosition } from './snapshot-position.ts';

/** Fraction of the member timeout used as its scan budget; the rest is for the network. */
const SCAN_SHARE = 0.8;

/** Maximum delay of a timer; a longer one would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export type ClusterSearch = SearchQuery & MemberSelection;

/** The start of the search and of members without a position. */
export interface StartPosition extends ClusterPosition {
  others: MemberPosition;
}

/** Throws for positions that are only valid on a single member. */
export function parseStartPosition({ order, start, until }: ClusterSearch): StartPosition {
  if (until !== undefined) throw invalid('"until" is a position in the logs of one member; query that member');
  if (start === undefined) return { order, reachedMs: null, members: new Map(), others: 'beginning' };
  if ('timeMs' in start) {
    const { timeMs } = start;
    return { order, reachedMs: timeMs, members: new Map(), others: { timeMs } };
  }
  if (!('cursor' in start)) throw invalid('a cluster search starts at a time or a cluster cursor');
  const position = decodeClusterCursor(start.cursor);
  if (position.order !== order)
    throw new PortholeError('CURSOR_INVALID', `this cursor is for order ${position.order}, not ${order}`);
  return { ...position, others: positionAtTime(position.reachedMs, order) };
}

/** Before or after the reached time; its own millisecond is included either way. */
export function positionAtTime(timeMs: number | null, order: SearchQuery['order']): MemberPosition {
  if (timeMs === null) return 'beginning';
  return { timeMs: order === 'newest' ? timeMs + 1 : timeMs };
}

/** The members to search, and reports of those that are exhausted since an earlier page. */
export function membersToQuery(
  deps: ClusterDeps,
  request: ClusterSearch,
  { began, budgetMs, asLines }: { began: StartPosition; budgetMs: number | undefined; asLines: boolean },
): { queried: QueriedMember[]; reports: MemberReport[] } {
  const { firstBatchMs, memberTimeoutMs } = getLimits(deps);
  const timeoutMs = Math.min(memberTimeoutMs + (budgetMs ?? 0), MAX_TIMER_MS);
  const options = { budgetMs: budgetMs ?? memberTimeoutMs * SCAN_SHARE, asLines };
  const queried: QueriedMember[] = [];
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
      index: queried.length,
      id,
      clock,
      newestFirst: request.order === 'newest',
      firstBatchMs,
      timeoutMs,
      ...opened,
    });
    queried.push({ lane, peer: member, query, began: position });
  }
  const ids = new Set(chosen.map(({ member }) => member.id));
  for (const [id, position] of began.members)
    if (!ids.has(id) && position !== 'done') reports.push(unqueriedReport(deps, id, 'gone'));
  return { queried, reports };
}

interface OpenOptions {
  request: ClusterSearch;
  query: SearchQuery;
  clock: MemberClock;
  /** The resume position, and the time to use if its snapshot does not have it. */
  place: MemberPosition;
  others: MemberPosition;
  budgetMs: number;
  /** Whether records that need not be parsed stay lines. */
  asLines: boolean;
}

/** Searches a member, or its snapshot if it has departed or does not respond. */
function openMember(
  deps: ClusterDeps,
  chosen: ChosenMember,
  { request, query, clock, place: position, others, budgetMs, asLines }: OpenOptions,
): Pick<LaneOptions, 'open' | 'instead'> {
  return openOrSnapshot(deps, chosen, {
    search: (signal) =>
      asLines
        ? lineItems(chosen.state.searchLogLines(query, { budgetMs, signal }))
        : chosen.state.searchLogs(query, { budgetMs, signal }),
    searchSnapshot: (snapshot) => {
      const from = positionInSnapshot(snapshot, { request, place: position, others });
      return searchSnapshot(snapshot, toMemberSearch(request, clock.offsetMs, from), deps.peers.matchRegex);
    },
  });
}

/** After the last record of the snapshot or the member itself; by time if the snapshot does not have it. */
function positionInSnapshot(
  snapshot: MemberSnapshot,
  { request, place: position, others }: Pick<OpenOptions, 'request' | 'place' | 'others'>,
): MemberPosition {
  if (typeof position === 'string' || 'timeMs' in position) return position;
  return deliveredBefore(snapshot, position.cursor, request.order) === undefined ? others : position;
}

function unqueriedReport({ directory }: ClusterDeps, id: string, outcome: 'ok' | 'gone'): MemberReport {
  const detail = outcome === 'gone' ? 'left the cluster during the search and has no snapshot' : null;
  const standing = outcome === 'gone' ? ({ state: 'failed', sinceMs: null } as const) : directory.standingOf(id, 'ok');
  return { id, outcome, detail, elapsedMs: 0, count: 0, asOfMs: null, ...standing };
}

function invalid(message: string): PortholeError {
  return new PortholeError('PARAMETER_INVALID', message);
}
