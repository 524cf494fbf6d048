import { codeOf, type MemberReport, type MemberSelection, type NodeState, PortholeError } from '@porthole/contract';
import type { SearchEnd, SearchQuery } from '@porthole/logs/types';
import type { RecordBatch } from '@porthole/records';
import { describeUncertainty, type SteppedClock, type TimeRange } from '../../fan-out/clock-steps.ts';
import { SELF_MORE_MS } from '../../fan-out/fan-out.ts';
import { type ChosenMember, departedReport } from '../../state/query-members.ts';
import { type LaneOptions, MemberLane } from '../merge/member-lane.ts';
import { firstPage, type PageEnd, searchInPages } from '../merge/member-pages.ts';
import { type ClusterPosition, isReplaced, type MemberPosition } from './cluster-cursor.ts';
import { type ClusterDeps, getChosenClock, getLimits } from './cluster-deps.ts';
import type { FoundPosition, Progress } from './cursor-keeper.ts';
import { dropEmitted, dropOutside } from './drop-records.ts';
import { type Filling, fillGap } from './fill-gap.ts';
import { toMemberSearch } from './member-query.ts';
import { openOrRecorded } from './open-or-recorded.ts';
import { type ClusterReach, initialReach, reachOf, toKey } from './reach.ts';
import { gapEnds, type QueriedMember } from './resume-position.ts';

/** Fraction of the member timeout used as its scan budget; the rest is for the network. */
const SCAN_SHARE = 0.8;

/** Maximum delay of a timer; a longer one would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export type ClusterSearch = SearchQuery & MemberSelection;

/** The start of the search and of members without a position. */
export interface StartPosition extends ClusterPosition {
  others: MemberPosition;
  /** How far earlier pages have come. */
  reach: ClusterReach;
  /** Whether every member continues exactly at its reach: the positions were kept. */
  isExact: boolean;
  /** Whether the exact positions were lost: every member continues by its reach. */
  isByReach: boolean;
  progress: Progress;
}

/** Throws for positions that are only valid on a single member. */
export function parseStartPosition(
  { clocks, cursors }: Pick<ClusterDeps, 'clocks' | 'cursors'>,
  request: ClusterSearch,
  chosen: readonly ChosenMember[],
): StartPosition {
  const { order, start, until } = request;
  if (until !== undefined) throw invalid('"until" is a position in the logs of one member; query that member');
  const progress = { furthestMs: null, stalls: 0 };
  const fresh = { order, members: new Map(), reach: initialReach(request), isExact: false, isByReach: false, progress };
  if (start === undefined) return { ...fresh, reachedMs: null, others: 'beginning' };
  if ('timeMs' in start) return { ...fresh, reachedMs: start.timeMs, others: { timeMs: start.timeMs } };
  if (!('cursor' in start)) throw invalid('a cluster search starts at a time or a cluster cursor');
  const ids = chosen.map(({ member }) => member.id);
  return foundStart(cursors.decode(start.cursor, { order, ids, clocks }), fresh);
}

function foundStart(
  { position, reach, progress }: FoundPosition,
  fresh: Omit<StartPosition, 'reachedMs' | 'others'>,
): StartPosition {
  const { order } = fresh;
  const reachedMs = position?.reachedMs ?? reach?.timeMs ?? null;
  const start = { ...fresh, ...position, reachedMs, others: positionAtTime(reachedMs, order), progress };
  if (reach === undefined) return { ...start, reach: { ...fresh.reach, timeMs: reachedMs } };
  if (position) return { ...start, reach, isExact: true };
  return { ...start, reach, isByReach: true, ...(reach.node !== undefined && { lastNode: reach.node }) };
}

/** Where to start on a member. */
function startOf({ members, others, reach, isByReach }: StartPosition, id: string): MemberPosition {
  return isByReach ? startByReach(reach, id) : (members.get(id) ?? others);
}

function startByReach(reach: ClusterReach, id: string): MemberPosition {
  const { marginMs, startMs } = reach;
  const own = reachOf(reach, id);
  if (own.timeMs === null && own.count === 0) return startMs === undefined ? 'beginning' : { timeMs: startMs };
  return { reach: own, marginMs, ...(startMs !== undefined && { startMs }) };
}

/** Before or after the reached time; its own millisecond is included either way. */
function positionAtTime(timeMs: number | null, order: SearchQuery['order']): MemberPosition {
  if (timeMs === null) return 'beginning';
  return { timeMs: order === 'newest' ? timeMs + 1 : timeMs };
}

/** The members to search, and reports of those that are exhausted since an earlier page. */
export function membersToQuery(
  deps: ClusterDeps,
  request: ClusterSearch,
  {
    began,
    chosen,
    budgetMs,
    client,
    onlyRaw,
  }: {
    began: StartPosition;
    chosen: readonly ChosenMember[];
    budgetMs: number | undefined;
    client: string | undefined;
    onlyRaw: boolean;
  },
): { queried: QueriedMember[]; reports: MemberReport[]; lanes: MemberLane[] } {
  const { firstBatchMs, memberTimeoutMs, pageRecords = firstPage(request, chosen.length) } = getLimits(deps);
  const timeoutMs = Math.min(memberTimeoutMs + (budgetMs ?? 0), MAX_TIMER_MS);
  const options = { budgetMs: budgetMs ?? memberTimeoutMs * SCAN_SHARE, client, onlyRaw, pageRecords };
  const newestFirst = request.order === 'newest';
  const queried: QueriedMember[] = [];
  const lanes: MemberLane[] = [];
  const reports: MemberReport[] = [];
  for (const member of chosen) {
    const { id } = member.member;
    const position = startOf(began, id);
    if (position === 'done') {
      reports.push(member.departed ? departedReport(member.departed, 0) : unqueriedReport(deps, id, 'ok'));
      continue;
    }
    const clock = getChosenClock(deps, member);
    const own = { member: member.member, clock };
    const query = toMemberSearch(request, own, isReplaced(position) ? position.from : position);
    const filling: Filling = { isEmpty: true };
    const onDrop = (batch: RecordBatch, index: number) => lane.skip(batch, index);
    const byReach = startByReach(began.reach, id);
    const place = { clock, byReach, request, query, place: position, filling, onDrop, ...options };
    const came = reachOf(began.reach, id);
    const reached = began.isExact ? { key: toKey(came.timeMs, request.order), count: came.count } : undefined;
    const { isSelf } = member.member;
    const lane: MemberLane = new MemberLane({
      index: lanes.length,
      id,
      clock,
      newestFirst,
      firstBatchMs,
      timeoutMs: isSelf ? Math.min(timeoutMs + SELF_MORE_MS, MAX_TIMER_MS) : timeoutMs,
      isAlive: () => isSelf || deps.directory.isAlive(id),
      reached,
      doubt: doubtOf(clock, request, position),
      ...openMember(deps, member, place),
    });
    lanes.push(lane);
    queried.push({ lane, peer: member, query, began: position, filling });
  }
  const ids = new Set(chosen.map(({ member }) => member.id));
  for (const [id, position] of began.members)
    if (!ids.has(id) && position !== 'done') reports.push(unqueriedReport(deps, id, 'gone'));
  return { queried, reports, lanes };
}

interface OpenOptions {
  request: ClusterSearch;
  clock: SteppedClock;
  /** The resume position, and the one to use if what was recorded does not have it. */
  place: MemberPosition;
  byReach: MemberPosition;
  /** The query of the member itself. */
  query: SearchQuery;
  filling: Filling;
  /** Called for records that an earlier page has emitted. */
  onDrop(batch: RecordBatch, index: number): void;
  budgetMs: number;
  client: string | undefined;
  /** See `SearchOptions`. */
  onlyRaw: boolean;
  /** Records in its first page; `undefined`: there is only one. */
  pageRecords: number | undefined;
}

/** Searches a member, or what was recorded of it if it has departed or does not respond. */
function openMember(
  deps: ClusterDeps,
  chosen: ChosenMember,
  { request, query: own, filling, clock, place, byReach, onDrop, budgetMs, client, onlyRaw, pageRecords }: OpenOptions,
): Pick<LaneOptions, 'open' | 'instead'> {
  const { member } = chosen;
  const open = (state: NodeState, position: MemberPosition, { signal, isPaged, until, budgetMs }: OpenHow) => {
    const search = (asked: SearchQuery, limits = { budgetMs }) =>
      state.search(asked, { ...limits, signal, ...(client !== undefined && { client }), onlyRaw });
    const query = { ...toMemberSearch(request, { member, clock }, position), ...(until !== undefined && { until }) };
    const reach = typeof position === 'object' && 'reach' in position ? position.reach : undefined;
    const found: AsyncIterable<RecordBatch | SearchEnd | PageEnd> = reach
      ? dropEmitted(search, { query, reach, clock, onDrop })
      : isPaged && pageRecords !== undefined
        ? searchInPages(search, { query, budgetMs, pageRecords, peer: chosen, signal })
        : search(query);
    return dropOutside(found, clock, askedRange(request, position));
  };
  /** What was recorded does not have all positions of the member. */
  const openOrByReach = async function* (state: NodeState, how: OpenHow) {
    try {
      yield* open(state, place, how);
    } catch (error) {
      // The position is looked for before the first record.
      if (codeOf(error) !== 'CURSOR_GONE') throw error;
      yield* open(state, byReach, how);
    }
  };
  return openOrRecorded(deps, chosen, {
    budgetMs,
    search(signal) {
      const { state } = chosen;
      if (!isReplaced(place)) return open(state, place, { signal, isPaged: true, budgetMs });
      return fillGap({
        place,
        byReach,
        budgetMs,
        filling,
        ends: () => gapEnds(place, { state: () => state, query: own }, { signal }),
        open: (position, limits) => open(state, position, { signal, isPaged: true, ...limits }),
      });
    },
    searchRecorded: ({ state }, signal) => openOrByReach(state, { signal, isPaged: false, budgetMs }),
  });
}

interface OpenHow {
  signal: AbortSignal;
  /** Whether its records are requested in several pages. */
  isPaged: boolean;
  /** Cursor of the record to stop before. */
  until?: string;
  budgetMs: number;
}

/** What of a member was asked for, by the clock of this node. */
function askedRange({ fromMs, toMs, order }: ClusterSearch, position: MemberPosition): TimeRange {
  if (typeof position === 'string' || !('timeMs' in position)) return { fromMs, toMs };
  const { timeMs } = position;
  if (order === 'newest') return { fromMs, toMs: Math.min(toMs ?? Infinity, timeMs) };
  return { fromMs: Math.max(fromMs ?? -Infinity, timeMs), toMs };
}

function doubtOf(clock: SteppedClock, request: ClusterSearch, position: MemberPosition): string | undefined {
  return describeUncertainty(clock, askedRange(request, position));
}

function unqueriedReport({ directory }: ClusterDeps, id: string, outcome: 'ok' | 'gone'): MemberReport {
  const detail = outcome === 'gone' ? 'left the cluster during the search, and nothing of it was recorded' : null;
  const standing = outcome === 'gone' ? ({ state: 'failed', sinceMs: null } as const) : directory.standingOf(id, 'ok');
  return { id, outcome, detail, elapsedMs: 0, count: 0, asOfMs: null, ...standing };
}

function invalid(message: string): PortholeError {
  return new PortholeError('PARAMETER_INVALID', message);
}
