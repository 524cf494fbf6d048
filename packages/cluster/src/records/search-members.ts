import { type MemberClock, type MemberReport, type MemberSelection, PortholeError } from '@porthole/contract';
import type { SearchQuery } from '@porthole/logs/types';
import { type ChosenMember, chooseMembers } from '../state/choose-members.ts';
import type { MemberWords } from '../state/member-words.ts';
import { departedReport } from '../state/state-parts.ts';
import { type ClusterPlace, decodeClusterCursor, type MemberPlace } from './cluster-cursor.ts';
import { type ClusterParts, clockOfChosen, limitsOf } from './cluster-parts.ts';
import { type LaneOptions, MemberLane } from './member-lane.ts';
import { memberSearch } from './member-query.ts';
import { openOrKept } from './open-or-kept.ts';
import type { AskedMember } from './place-after.ts';
import { searchWords } from './search-words.ts';
import { givenBefore, isSnapshotPosition } from './snapshot-position.ts';

/** Of the time a member is waited for, what it may look at its logs; the rest is for the way. */
const LOOKING_SHARE = 0.8;

/** The longest time a timer takes; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export type ClusterSearch = SearchQuery & MemberSelection;

/** Where the whole begins, and each member that it does not name. */
export interface Beginning extends ClusterPlace {
  others: MemberPlace;
}

/** Throws for places that mean nothing to a cluster: those of a member. */
export function placeOf({ order, start, until }: ClusterSearch): Beginning {
  if (until !== undefined) throw invalid('"until" is a place in the logs of one member: ask that member');
  if (start === undefined) return { order, reachedMs: null, members: new Map(), others: 'beginning' };
  if ('timeMs' in start) {
    const { timeMs } = start;
    return { order, reachedMs: timeMs, members: new Map(), others: { timeMs } };
  }
  if (!('cursor' in start)) throw invalid('a search of the cluster begins at a time or at a cursor of the cluster');
  const place = decodeClusterCursor(start.cursor);
  if (place.order !== order)
    throw new PortholeError('CURSOR_INVALID', `this cursor goes on ${place.order} first, not ${order} first`);
  return { ...place, others: placeAt(place.reachedMs, order) };
}

/** Those before, or from, a time that was reached: its own millisecond is included either way. */
export function placeAt(timeMs: number | null, order: SearchQuery['order']): MemberPlace {
  if (timeMs === null) return 'beginning';
  return { timeMs: order === 'newest' ? timeMs + 1 : timeMs };
}

/** Those that have something to tell, and reports on those of an earlier page that have not. */
export function membersToAsk(
  parts: ClusterParts,
  request: ClusterSearch,
  { began, budgetMs }: { began: Beginning; budgetMs: number | undefined },
): { asked: AskedMember[]; reports: MemberReport[] } {
  const { firstBatchMs, memberTimeoutMs } = limitsOf(parts);
  const timeoutMs = Math.min(memberTimeoutMs + (budgetMs ?? 0), MAX_TIMER_MS);
  const options = { budgetMs: budgetMs ?? memberTimeoutMs * LOOKING_SHARE };
  const asked: AskedMember[] = [];
  const reports: MemberReport[] = [];
  const chosen = chooseMembers(parts, request);
  for (const member of chosen) {
    const { id } = member.member;
    const place = began.members.get(id) ?? began.others;
    if (place === 'done') {
      reports.push(member.departed ? departedReport(member.departed, 0) : unasked(parts, id, 'ok'));
      continue;
    }
    const clock = clockOfChosen(parts, member);
    // A member that responds again does not know the positions in its snapshot.
    const from = isSnapshotPosition(place) && !member.departed ? began.others : place;
    const query = memberSearch(request, clock.offsetMs, from);
    const opened = openMember(parts, member, { query, clock, others: began.others, request, place, ...options });
    const lane = new MemberLane({
      place: asked.length,
      id,
      clock,
      newestFirst: request.order === 'newest',
      firstBatchMs,
      timeoutMs,
      ...opened,
    });
    asked.push({ lane, peer: member, query, began: place });
  }
  const ids = new Set(chosen.map(({ member }) => member.id));
  for (const [id, place] of began.members)
    if (!ids.has(id) && place !== 'done') reports.push(unasked(parts, id, 'gone'));
  return { asked, reports };
}

interface OpenOptions {
  request: ClusterSearch;
  query: SearchQuery;
  clock: MemberClock;
  /** Where it goes on, and where to begin by time if its snapshot does not know that. */
  place: MemberPlace;
  others: MemberPlace;
  budgetMs: number;
}

/** How a member is searched: itself, or by its snapshot where it has departed or does not respond. */
function openMember(
  parts: ClusterParts,
  chosen: ChosenMember,
  { request, query, clock, place, others, budgetMs }: OpenOptions,
): Pick<LaneOptions, 'open' | 'instead'> {
  return openOrKept(parts, chosen, {
    ask: (signal) => chosen.state.searchLogs(query, { budgetMs, signal }),
    askKept: (snapshot) => {
      const from = placeInSnapshot(snapshot, { request, place, others });
      return searchWords(snapshot, memberSearch(request, clock.offsetMs, from), parts.peers.matchRegex);
    },
  });
}

/** Behind what was given of it before, by the snapshot or by the member itself; by time where that is not in it. */
function placeInSnapshot(
  snapshot: MemberWords,
  { request, place, others }: Pick<OpenOptions, 'request' | 'place' | 'others'>,
): MemberPlace {
  if (typeof place === 'string' || 'timeMs' in place) return place;
  return givenBefore(snapshot, place.cursor, request.order) === undefined ? others : place;
}

function unasked({ directory }: ClusterParts, id: string, outcome: 'ok' | 'gone'): MemberReport {
  const detail = outcome === 'gone' ? 'it was a member when the answer began, and nothing is kept of it' : null;
  const standing = outcome === 'gone' ? ({ state: 'failed', sinceMs: null } as const) : directory.standingOf(id, 'ok');
  return { id, outcome, detail, elapsedMs: 0, count: 0, asOfMs: null, ...standing };
}

function invalid(message: string): PortholeError {
  return new PortholeError('PARAMETER_INVALID', message);
}
