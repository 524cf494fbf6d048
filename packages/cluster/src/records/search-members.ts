import { type Member, type MemberReport, type MemberSelection, PortholeError } from '@porthole/contract';
import type { SearchQuery } from '@porthole/logs/types';
import type { Peer } from '../fan-out/peers.ts';
import { chooseMembers } from '../state/choose-members.ts';
import type { MemberWords } from '../state/member-words.ts';
import type { KnownWords } from '../state/state-parts.ts';
import { type ClusterPlace, decodeClusterCursor, type MemberPlace } from './cluster-cursor.ts';
import { type ClusterParts, clockOf, limitsOf, wholeClock } from './cluster-parts.ts';
import { MemberLane } from './member-lane.ts';
import { memberSearch } from './member-query.ts';
import type { AskedMember } from './place-after.ts';
import { type InsteadOf, searchOrWords, searchWords } from './search-words.ts';

/** Of the time a member is waited for, what it may look at its logs; the rest is for the way. */
const LOOKING_SHARE = 0.8;

/** Of the time for first records, how long a member of which words are known is waited for. */
const WORDS_SHARE = 0.75;

const NO_WORDS: KnownWords = { of: () => undefined, gone: () => [] };

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
  const isFirstPage = began.members.size === 0;
  const { peers, gone } = chooseMembers({ peers: parts.peers, lastWords: parts.lastWords ?? NO_WORDS }, request);
  for (const peer of peers) {
    const { id } = peer.member;
    const place = began.members.get(id) ?? began.others;
    if (place === 'done') {
      reports.push(unasked(id, 'ok'));
      continue;
    }
    const clock = clockOf(parts.clocks, id);
    const query = memberSearch(request, clock.offsetMs, place);
    const lane = new MemberLane({
      place: asked.length,
      id,
      clock,
      newestFirst: request.order === 'newest',
      open: (signal) => askMember(signal),
      firstBatchMs,
      timeoutMs,
      instead: () => instead,
    });
    let instead: InsteadOf | undefined;
    // Only where it begins: who goes on would be told the same words again.
    const words = isFirstPage ? parts.lastWords?.of(id) : undefined;
    const askMember = (signal: AbortSignal) => {
      const ask = () => peer.state.searchLogs(query, { ...options, signal });
      if (!words) return ask();
      const onSilence = (said: InsteadOf) => {
        instead = said;
      };
      return searchOrWords(ask, { words, query, timeoutMs: firstBatchMs * WORDS_SHARE, signal, onSilence });
    };
    asked.push({ lane, peer, query, began: place });
  }
  if (isFirstPage) asked.push(...goneMembers(gone, { parts, request, began, place: asked.length }));
  const ids = new Set(peers.map(({ member }) => member.id));
  for (const [id, place] of began.members) if (!ids.has(id) && place !== 'done') reports.push(unasked(id, 'gone'));
  return { asked, reports };
}

/** Members that are no longer registered, as far as something is known of them. */
function goneMembers(
  gone: readonly MemberWords[],
  { parts, request, began, place }: { parts: ClusterParts; request: ClusterSearch; began: Beginning; place: number },
): AskedMember[] {
  const { firstBatchMs, memberTimeoutMs } = limitsOf(parts);
  return gone.map((words, index) => {
    const { member, asOfMs } = words;
    const clock = wholeClock(words.clock);
    const query = memberSearch(request, clock.offsetMs, began.others);
    const lane = new MemberLane({
      place: place + index,
      id: member.id,
      clock,
      newestFirst: request.order === 'newest',
      open: () => searchWords(words, query),
      firstBatchMs,
      timeoutMs: memberTimeoutMs,
      instead: () => ({ outcome: 'gone', detail: 'no longer registered', asOfMs }),
    });
    return { lane, peer: gonePeer(member), query, began: began.others };
  });
}

function gonePeer(member: Member): Peer {
  return {
    member,
    get state(): never {
      throw new PortholeError('MEMBER_NOT_FOUND', `${JSON.stringify(member.id)} is gone`);
    },
  };
}

function unasked(id: string, outcome: 'ok' | 'gone'): MemberReport {
  const detail = outcome === 'gone' ? 'it was a member when the answer began' : null;
  return { id, outcome, detail, elapsedMs: 0, count: 0, asOfMs: null };
}

function invalid(message: string): PortholeError {
  return new PortholeError('PARAMETER_INVALID', message);
}
